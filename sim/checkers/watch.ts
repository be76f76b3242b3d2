import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { deployments, jobs, nodes } from '../../src/state/tables.ts';
import type { Change, Stamps, State, TableDefinition } from '../../src/state/types.ts';
import { loopback, type Network, type Reply } from '../network.ts';
import { Process } from '../process.ts';
import { rootToken } from '../server.ts';
import type { Checker, Fault, Scene } from './checker.ts';

interface Item {
  readonly ID: string;
  readonly ModifyIndex: number;
}

/** A list or a single row that a reader follows. */
interface Followed {
  readonly url: string;
  readonly definition: TableDefinition<Stamps & { readonly ID: string }>;
  /** The beginning of the ids, or the whole id of a single row. */
  readonly prefix: string;
}

const jobTable = jobs as unknown as Followed['definition'];
const nodeTable = nodes as unknown as Followed['definition'];
const deploymentTable = deployments as unknown as Followed['definition'];

const fromAfar: readonly Followed[] = [
  { url: '/v1/jobs', definition: jobTable, prefix: '' },
  { url: '/v1/nodes', definition: nodeTable, prefix: '' },
  { url: '/v1/deployments', definition: deploymentTable, prefix: '' },
];
/** Pause of a far reader after an answer. */
const pauseMs = 5000;

/** Longest delay until a near reader learns of a change that its server knows. An answer asks a log that may be slow. */
const promptMs = 2000;

export interface WatchOptions {
  readonly world: SimulatedWorld;
  readonly network: Network;
  /** The server on the machine of the near readers. */
  readonly server: {
    readonly process: Process | undefined;
    readonly running: { readonly state: Pick<State, 'read'> } | undefined;
  };
  readonly nodeIds: readonly string[];
}

/**
 * Readers follow lists by blocking queries, over lost messages and restarts. At rest each of them has seen
 * the newest state, and none has seen the index fall. The near readers are on the server's machine, where
 * no message is lost, and learn of each change at once.
 */
export function watchMissesNothing(options: WatchOptions): Checker {
  const [id = ''] = options.nodeIds;
  const near: readonly Followed[] = [
    { url: '/v1/jobs?prefix=batch', definition: jobTable, prefix: 'batch' },
    { url: `/v1/node/${id}`, definition: nodeTable, prefix: id },
  ];
  const readers = fromAfar.map((one) => new Reader(options, one, 'watcher', pauseMs));
  const probes = near.map((one) => new Reader(options, one, loopback, 1));
  return {
    guarantee: 'a watch misses no change',
    committed(changes, index, { account, elapsedMs }, fault) {
      for (const reader of readers) {
        if (reader.isConcerned(changes)) reader.changedMs = elapsedMs;
      }
      for (const probe of probes) {
        if (probe.isConcerned(changes)) probe.expect(index, () => account.index, fault);
      }
    },
    restored(_changes, _index, { elapsedMs }) {
      for (const reader of readers) reader.changedMs = elapsedMs;
    },
    rested(scene, fault) {
      for (const reader of [...readers, ...probes]) reader.compare(scene, fault);
    },
  };
}

class Reader {
  readonly #followed: Followed;
  readonly #options: WatchOptions;
  readonly #process: Process;
  readonly #machine: string;
  /** Time of the last change in its list. */
  changedMs = -Infinity;
  #index = 0;
  #last: Reply | undefined;
  #fellBack: string | undefined;
  /** The server of its last request. */
  #asked: Process | undefined;
  #isExpecting = false;

  constructor(options: WatchOptions, followed: Followed, machine: string, waitMs: number) {
    this.#followed = followed;
    this.#options = options;
    this.#machine = machine;
    this.#process = new Process(options.world);
    const { timers } = this.#process.world;
    const again = () => {
      this.#askServer().then(
        () => timers.after(waitMs, again),
        () => timers.after(500, again),
      );
    };
    again();
  }

  async #askServer(): Promise<void> {
    const { url } = this.#followed;
    const wait = `${url.includes('?') ? '&' : '?'}index=${this.#index}&wait=60s`;
    const call = { method: 'GET', token: rootToken, patienceMs: 75_000 };
    const asked = { ...call, url: this.#index === 0 ? url : `${url}${wait}` };
    this.#asked = this.#options.server.process;
    this.#takeReply(await this.#options.network.call(this.#process, this.#machine, asked));
  }

  #takeReply(reply: Reply): void {
    const { status, index } = reply;
    // A followed row may be missing for a while.
    if (status !== 200 && status !== 404) throw new Error(`${status}`);
    if (index < this.#index) {
      this.#fellBack ??= `the index of ${this.#followed.url} fell from ${this.#index} to ${index}`;
    }
    this.#index = index;
    this.#last = reply;
  }

  isConcerned(changes: readonly Change[]): boolean {
    const { definition, prefix } = this.#followed;
    return changes.some(({ table, before, after }) => {
      if (table !== definition.name) return false;
      return ((after ?? before) as unknown as Item).ID.startsWith(prefix);
    });
  }

  /**
   * Checks later that the reader has learned of a commit, unless the server died or froze. The server itself may learn late that
   * the log has it: its answer to an append may be lost.
   */
  expect(index: number, newest: () => number, fault: Fault): void {
    if (this.#isExpecting) return;
    this.#isExpecting = true;
    const { world, server } = this.#options;
    const { process } = server;
    const hadIndex = this.#index;
    const asked = this.#asked;
    let wasKnown = false;
    const look = (): void => {
      const isSame =
        server.process === process && asked === process && (process?.awakeMs ?? 0) > 2 * promptMs;
      // The reader has no open query yet at a server that has just started or thawed.
      const isOver = !isSame || hadIndex === 0 || this.#index >= index || newest() < index;
      if (!isOver && !wasKnown) {
        wasKnown = (server.running?.state.read().index ?? 0) >= index;
        world.timers.after(promptMs, look);
        return;
      }
      this.#isExpecting = false;
      if (isOver) return;
      fault(`the reader of ${this.#followed.url} missed ${index}: it is at ${this.#index}`);
    };
    world.timers.after(promptMs, look);
  }

  get #seen(): readonly Item[] {
    if (this.#last?.status !== 200) return [];
    const { json } = this.#last;
    return Array.isArray(json) ? json : [json];
  }

  compare({ account, elapsedMs }: Scene, fault: Fault): void {
    if (this.#fellBack !== undefined) fault(this.#fellBack);
    // The reader pauses between two queries, and some jobs never come to rest.
    if (elapsedMs - this.changedMs < pauseMs + promptMs) return;
    const { url, definition, prefix } = this.#followed;
    const told = new Map(this.#seen.map(({ ID, ModifyIndex }) => [ID, ModifyIndex]));
    for (const { ID, ModifyIndex } of account.rows(definition).values()) {
      if (!ID.startsWith(prefix)) continue;
      const last = told.get(ID);
      told.delete(ID);
      if (last === ModifyIndex) continue;
      fault(`${ID} is at ${ModifyIndex}, the reader of ${url} saw ${last ?? 'none'}`);
    }
    for (const ID of told.keys()) fault(`${ID} is gone, the reader of ${url} still sees it`);
  }
}
