import { join } from 'node:path';
import {
  installBundle,
  type RunningAgent,
  startAgent,
  type TemporaryFolder,
  temporaryFolder,
} from '../../bench/agent.ts';
import { until } from '../../bench/benchmark.ts';
import { drained, smallJob } from '../../bench/jobs.ts';
import { isAlive, processesNaming } from '../../bench/processes.ts';
import { call, type Target } from '../../bench/target.ts';
import { checkRestarted, checkRunning } from './check.ts';
import { Ledger } from './ledger.ts';
import { type Choices, choicesOf } from './random.ts';
import { checkTables } from './tables.ts';
import { startWriters } from './writers.ts';

/**
 * Kills an agent with SIGKILL under load, again and again on the same data, and compares what the
 * next one finds with what was acknowledged.
 *
 * The seed decides what is written and when to kill; how far the agent is by then is the machine's
 * to say, so the same seed is the same kind of run and not the same run.
 */

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  readonly progress: (text: string) => void;
}

export interface CrashReport {
  readonly faults: readonly string[];
  readonly kills: number;
  /** Beside them: kills of an agent that was still starting. */
  readonly killsWhileStarting: number;
  readonly acknowledged: number;
  /** Writes that were under way at a kill and are there whole, and those that are not there. */
  readonly kept: number;
  readonly dropped: number;
  readonly runningTasks: number;
  readonly startsMs: readonly number[];
}

const writers = 16;
/** Then comes a new one: what was written long ago only makes every start slower. */
const killsPerDirectory = 50;
/** A round ends at the first of so many answers or, every other time, so many milliseconds. */
const answersMost = 300;
const roundMost = 300;
/** Every so many rounds an agent is killed before it is ready, too. */
const startingEvery = 8;
const startingMost = 700;
const runningJobs = 3;
/** A run that is wrong is wrong often: the first faults tell why. */
const faultsMost = 20;

export async function crashTest(options: CrashOptions): Promise<CrashReport> {
  const folder = temporaryFolder();
  try {
    return await crashIn(folder, options);
  } finally {
    await folder.remove();
  }
}

async function crashIn(folder: TemporaryFolder, options: CrashOptions): Promise<CrashReport> {
  const command = await installBundle(folder.path);
  const choices = choicesOf(options.seed);
  const tally = new Tally(options);
  for (let number = 0; !tally.isDone; number++) {
    const dataDirectory = join(folder.path, `data-${number}`);
    await crashOnOneDirectory({ command, dataDirectory }, choices, tally);
  }
  return tally.report();
}

/** What was counted so far, over all directories. */
class Tally {
  readonly #options: CrashOptions;
  readonly faults: string[] = [];
  readonly startsMs: number[] = [];
  kills = 0;
  killsWhileStarting = 0;
  acknowledged = 0;
  kept = 0;
  dropped = 0;
  runningTasks = 0;

  constructor(options: CrashOptions) {
    this.#options = options;
  }

  get isDone(): boolean {
    return this.kills >= this.#options.kills || this.faults.length >= faultsMost;
  }

  addKill(): void {
    this.kills++;
    if (this.kills % 10 === 0) this.#options.progress(`${this.kills} kills`);
  }

  addFaults(faults: readonly string[]): void {
    this.faults.push(...faults.map((fault) => `after kill ${this.kills}: ${fault}`));
  }

  report(): CrashReport {
    const { faults, startsMs, kills, killsWhileStarting, acknowledged } = this;
    const { kept, dropped, runningTasks } = this;
    return {
      ...{ faults, startsMs, kills, killsWhileStarting, acknowledged },
      ...{ kept, dropped, runningTasks },
    };
  }
}

/** Every agent but the last finds what the ones before it left. */
async function crashOnOneDirectory(
  place: { readonly command: string; readonly dataDirectory: string },
  choices: Choices,
  tally: Tally,
): Promise<void> {
  const ledger = new Ledger();
  let agent = await startAgent(place);
  const { token } = agent.target;
  const running = await startRunning(agent.target);
  for (let kills = 1; kills <= killsPerDirectory && !tally.isDone; kills++) {
    await loadAndKill(agent, ledger, choices, kills);
    tally.addKill();
    if (kills % startingEvery === 0) {
      await killWhileStarting({ ...place, token }, choices.below(startingMost));
      tally.killsWhileStarting++;
    }
    agent = await startAgent({ ...place, token });
    tally.startsMs.push(agent.readyMs);
    const { faults, kept, dropped } = await checkRestarted(agent.target, ledger);
    tally.addFaults([...faults, ...(await checkRunning(agent.target, running.allocations))]);
    tally.kept += kept;
    tally.dropped += dropped;
  }
  await drained(agent.target);
  const dead = running.pids.filter((pid) => !isAlive(pid));
  tally.addFaults(dead.map((pid) => `the task with pid ${pid} did not outlive the agents`));
  tally.acknowledged += ledger.acknowledged;
  tally.runningTasks += running.pids.length;
  await agent.kill();
  tally.addFaults(await checkTables(join(place.dataDirectory, 'server'), ledger.highestIndex));
}

/** Resolves when the agent is dead and every answer that it gave is in the ledger. */
async function loadAndKill(
  agent: RunningAgent,
  ledger: Ledger,
  choices: Choices,
  round: number,
): Promise<void> {
  const goal = ledger.acknowledged + 1 + choices.below(answersMost);
  const byTime = choices.fraction() < 0.5;
  const { ended } = await startWriters({
    ...{ target: agent.target, ledger, choices, writers, round },
    onAcknowledged: () => {
      if (!byTime && ledger.acknowledged === goal) void agent.kill();
    },
  });
  if (byTime) setTimeout(() => void agent.kill(), choices.below(roundMost));
  await Promise.all([ended, agent.ended]);
}

/** Recovery itself may be cut short as well. */
async function killWhileStarting(
  options: Parameters<typeof startAgent>[0],
  afterMs: number,
): Promise<void> {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), afterMs);
  const started = await startAgent({ ...options, abort: abort.signal }).catch(() => undefined);
  await started?.kill();
}

interface Running {
  readonly allocations: readonly string[];
  readonly pids: readonly number[];
}

/** A few real tasks, which have to outlive all the agents. */
async function startRunning(target: Target): Promise<Running> {
  type Row = { readonly ID: string; readonly ClientStatus: string };
  const allocations: string[] = [];
  for (let number = 0; number < runningJobs; number++) {
    const id = `real-${number}`;
    await call(target, 'POST', '/v1/jobs', smallJob(id, { count: 1, arguments: ['3600'] }));
    const found = await until(`that ${id} runs`, async () => {
      const { value } = await call<readonly Row[]>(target, 'GET', `/v1/job/${id}/allocations`);
      return value.find(({ ClientStatus }) => ClientStatus === 'running');
    });
    allocations.push(found.ID);
  }
  const pids = allocations.flatMap((id) => processesNaming(`ROSTER_ALLOC_ID=${id}`));
  return { allocations, pids };
}
