import type { Timer } from '../../base/ports.ts';
import { unhurriedPause } from '../../base/slices.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerContext } from '../context.ts';
import { writeEventually } from '../write-eventually.ts';
import { collectJobs } from './jobs.ts';
import type { Pass } from './pass.ts';
import { type GarbageAges, noAges } from './rules.ts';
import {
  allocationSweep,
  deploymentSweep,
  evaluationSweep,
  expirySweeps,
  introductionSweep,
  nodeSweep,
  type Sweep,
} from './sweeps.ts';
import { Window } from './window.ts';

export interface GarbageSettings extends GarbageAges {
  /** From the end of one collection to the beginning of the next. */
  readonly intervalMs: number;
}

/** How many rows of each table were deleted. */
export interface Collected {
  readonly Jobs: number;
  readonly Evaluations: number;
  readonly Allocations: number;
  readonly Deployments: number;
  readonly Nodes: number;
}

/**
 * Deletes garbage: regularly, and on request.
 *
 * Invariants
 *  G1. A row is deleted only if it is garbage by `rules.ts` in the very transaction that deletes it,
 *      whatever it was when it was found.
 *  G2. A transaction deletes a bounded number of rows. Between two transactions, and between two
 *      slices of the search, everything else goes first.
 *  G3. One collection runs at a time. Requests made while one runs share the next one.
 *  G4. A collection keeps nothing: if it is broken off, the next one makes up for it.
 */
export class GarbageCollector {
  readonly #context: ServerContext;
  readonly #settings: GarbageSettings;
  readonly #forgetNode: (nodeId: string) => void;
  readonly #stopping = new AbortController();
  #timer: Timer | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #asked: Promise<Collected> | undefined;

  constructor(
    context: ServerContext,
    options: {
      readonly settings: GarbageSettings;
      /** Called for each deleted node. */
      readonly forgetNode: (nodeId: string) => void;
    },
  ) {
    this.#context = context;
    this.#settings = options.settings;
    this.#forgetNode = options.forgetNode;
  }

  start(): void {
    this.#scheduleCollection();
  }

  stop(): void {
    this.#stopping.abort();
    this.#timer?.clear();
  }

  /** Deletes all garbage, however young. */
  collectAll(): Promise<Collected> {
    this.#asked ??= this.#runInTurn(() => {
      this.#asked = undefined;
      return this.#collectOnce(noAges);
    });
    return this.#asked;
  }

  #scheduleCollection(): void {
    const { timers } = this.#context.world;
    this.#timer = timers.after(this.#settings.intervalMs, () => void this.#collectInTurn());
  }

  async #collectInTurn(): Promise<void> {
    const { log, state } = this.#context;
    try {
      const collected = await this.#runInTurn(() => this.#collectOnce(this.#settings));
      const isAny = Object.values(collected).some((count) => count > 0);
      if (isAny) log.info(collected, 'garbage was collected');
    } catch (error) {
      if (this.#stopping.signal.aborted || state.closed !== undefined) return;
      log.error({ error }, 'garbage could not be collected');
    }
    if (!this.#stopping.signal.aborted) this.#scheduleCollection();
  }

  #runInTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#running.then(run);
    this.#running = result.catch(() => {});
    return result;
  }

  async #collectOnce(ages: GarbageAges): Promise<Collected> {
    const pass = this.#newPass(ages);
    const Allocations = await sweep(pass, allocationSweep);
    const Evaluations = await sweep(pass, evaluationSweep);
    const Deployments = await sweep(pass, deploymentSweep);
    const jobs = await collectJobs(pass);
    await sweep(pass, introductionSweep);
    for (const expired of expirySweeps) await sweep(pass, expired);
    const Nodes = await sweep(pass, nodeSweep, ({ ID }) => this.#forgetNode(ID));
    return {
      Jobs: jobs.jobs,
      Evaluations: Evaluations + jobs.evaluations,
      Allocations: Allocations + jobs.allocations,
      Deployments: Deployments + jobs.deployments,
      Nodes,
    };
  }

  #newPass(ages: GarbageAges): Pass {
    const context = this.#context;
    const { state, world } = context;
    const { signal } = this.#stopping;
    const { rowsPerStep, rowsPerSliceMax, sliceMs } = limits.garbage;
    return {
      context,
      ages,
      write: (run) => writeEventually({ state, timers: world.timers }, run, signal),
      async *walk(rows, look) {
        const iterator = rows[Symbol.iterator]();
        for (;;) {
          const endMs = world.clock.monotonicMs() + sliceMs;
          let isFull = false;
          for (let looked = 1; !isFull && looked <= rowsPerSliceMax; looked++) {
            const { done, value } = iterator.next();
            if (done) return;
            const next = look(value);
            if (next === 'end') return;
            isFull = next === 'pause';
            if (looked % rowsPerStep === 0 && world.clock.monotonicMs() >= endMs) break;
          }
          if (isFull) yield;
          await unhurriedPause(world.timers);
          if (signal.aborted) throw refusal('stopping');
        }
      },
    };
  }
}

/** Finds garbage in one table and deletes it, part by part. */
async function sweep<R>(
  pass: Pass,
  { rows, isGarbage, remove }: Sweep<R>,
  gone: (row: R) => void = () => {},
): Promise<number> {
  const { state, world } = pass.context;
  const seen = state.read();
  const { rowsPerTransactionMax } = limits.garbage;
  let found: R[] = [];
  let count = 0;
  const window = new Window();
  const flush = async () => {
    const part = found;
    found = [];
    if (part.length === 0) return;
    await window.add(async () => {
      const removed = await pass.write((transaction) => {
        const nowMs = world.clock.nowMs();
        return part.filter((row) => remove(transaction, row, pass.ages, nowMs));
      });
      count += removed.length;
      removed.forEach(gone);
    });
  };
  const look = (row: R) => {
    if (isGarbage(seen, row, pass.ages, world.clock.nowMs())) found.push(row);
    return found.length >= rowsPerTransactionMax ? 'pause' : 'on';
  };
  const walk = pass.walk(rows(seen), look);
  while (!(await walk.next()).done) await flush();
  await flush();
  await window.settle();
  return count;
}
