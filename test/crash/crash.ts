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
import { type Choices, choicesOf } from '../support/random.ts';
import { checkRestarted, checkRunning } from './check.ts';
import { Ledger } from './ledger.ts';
import { PowerCuts } from './power-cut.ts';
import { checkTables } from './tables.ts';
import { startWriters } from './writers.ts';

/**
 * Kills an agent with SIGKILL under load, repeatedly on the same data, and compares the state that
 * the next agent finds with the acknowledged writes.
 *
 * The seed decides on the writes and the kills. How far the agent is by then depends on the
 * machine, so a seed does not repeat a run exactly.
 */

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** Each kill cuts the power too. `after lies`: the disk said that it had synced, and had not. */
  readonly power?: 'cut' | 'cut after lies' | undefined;
  readonly progress: (text: string) => void;
}

export interface CrashReport {
  readonly faults: readonly string[];
  readonly kills: number;
  /** Additional kills of agents that were still starting. */
  readonly killsWhileStarting: number;
  readonly acknowledged: number;
  /** Writes under way at a kill that took effect as a whole, and writes that did not. */
  readonly kept: number;
  readonly dropped: number;
  readonly runningTasks: number;
  /** Sectors that cuts of the power took, and cuts that took some of the unsynced sectors and left others. */
  readonly lostSectors: number;
  readonly tornCuts: number;
  readonly startsMs: readonly number[];
}

const writers = 16;
/** After this many kills comes a new directory, as old data only slows every start down. */
const killsPerDirectory = 50;
/** A round ends after at most this many answers or, every other time, milliseconds. */
const answersMost = 300;
const roundMost = 300;
/** With power cuts most rounds end with one of so many writes to the store, unless they end before. */
const storeWritesMost = 1000;
/** After this many rounds an agent is also killed before it is ready. */
const startingEvery = 8;
const startingMost = 700;
const runningJobs = 3;
/** Faults come in numbers, and the first ones tell the reason. */
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
  const cuts = options.power && new PowerCuts(folder.path, options.power === 'cut after lies');
  const environment = cuts?.environment ?? {};
  for (let number = 0; !tally.isDone; number++) {
    const dataDirectory = join(folder.path, `data-${number}`);
    await crashOnOneDirectory({ command, dataDirectory, environment, cuts }, choices, tally);
  }
  return tally.report(cuts);
}

/** The counts over all directories. */
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

  report(cuts: PowerCuts | undefined): CrashReport {
    const { faults, startsMs, kills, killsWhileStarting, acknowledged } = this;
    const { kept, dropped, runningTasks } = this;
    return {
      faults,
      startsMs,
      kills,
      killsWhileStarting,
      acknowledged,
      kept,
      dropped,
      runningTasks,
      lostSectors: cuts?.lostSectors ?? 0,
      tornCuts: cuts?.torn ?? 0,
    };
  }
}

interface Place {
  readonly command: string;
  readonly dataDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly cuts: PowerCuts | undefined;
}

/** Every agent finds the data of the agents before it. */
async function crashOnOneDirectory(place: Place, choices: Choices, tally: Tally): Promise<void> {
  const ledger = new Ledger();
  const store = join(place.dataDirectory, 'server');
  let agent = await startAgent(place);
  const { token } = agent.target;
  const running = await startRunning(agent.target);
  for (let kills = 1; kills <= killsPerDirectory && !tally.isDone; kills++) {
    await loadAndKill(agent, { ledger, choices, round: kills, cuts: place.cuts });
    place.cuts?.cut(store, choices);
    tally.addKill();
    if (kills % startingEvery === 0) {
      await killWhileStarting({ ...place, token }, choices.below(startingMost));
      place.cuts?.cut(store, choices);
      tally.killsWhileStarting++;
    }
    const next = await startAgent({ ...place, token }).catch((error: Error) => error);
    if (next instanceof Error) {
      tally.addFaults([`the agent does not start: ${next.message}`]);
      return;
    }
    agent = next;
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
  place.cuts?.cut(store, choices);
  tally.addFaults(await checkTables(store, ledger.highestIndex));
}

interface Load {
  readonly ledger: Ledger;
  readonly choices: Choices;
  readonly round: number;
  readonly cuts: PowerCuts | undefined;
}

/** Resolves when the agent is dead and every answer that it gave is in the ledger. */
async function loadAndKill(agent: RunningAgent, load: Load): Promise<void> {
  const { ledger, choices, round, cuts } = load;
  const goal = ledger.acknowledged + 1 + choices.below(answersMost);
  const byTime = choices.fraction() < 0.5;
  const { ended } = await startWriters({
    target: agent.target,
    ledger,
    choices,
    writers,
    round,
    onAcknowledged: () => {
      if (!byTime && ledger.acknowledged === goal) void agent.kill();
    },
  });
  if (choices.fraction() < 0.75) cuts?.arm(1 + choices.below(storeWritesMost));
  if (byTime) setTimeout(() => void agent.kill(), choices.below(roundMost));
  await Promise.all([ended, agent.ended]);
}

/** A kill may interrupt recovery too. */
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

/** Starts a few real tasks, which must survive all agents. */
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
