/**
 * Runs servers, nodes and an etcd on this machine under faults, while clients write and read, and checks the
 * history of the clients and the state at rest.
 *
 * The seed decides on faults and requests. How far all processes are by then depends on the machine, so a
 * seed does not repeat a run exactly.
 */
import { cpSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { installBundle, type TemporaryFolder, temporaryFolder } from '../../bench/agent.ts';
import { processesNaming } from '../../bench/processes.ts';
import { RegisterUsers } from '../../sim/register-users.ts';
import { type Choices, choicesOf } from '../support/random.ts';
import type { ChaosAgent } from './agent.ts';
import { type Asked, Caller, type Reply } from './caller.ts';
import { ChaosCluster, size } from './cluster.ts';
import { faultKinds } from './faults.ts';
import { Appends, Wishes } from './jobs.ts';
import { type ChaosMistake, plantIn } from './mistakes.ts';
import { Once } from './once.ts';
import { differences, settle, unsettled } from './rest.ts';
import { Schedule } from './schedule.ts';

export interface ChaosOptions {
  readonly minutes: number;
  readonly seed: number;
  /** The kinds of faults that strike; the default is all. */
  readonly kinds?: readonly string[];
  /** A mistake that is planted in the program. */
  readonly mistake?: ChaosMistake | undefined;
  /** The number of violations after which the run ends. */
  readonly violationsMost?: number;
  /** Where the logs of all programs are kept. */
  readonly keep?: string | undefined;
  readonly progress: (text: string) => void;
}

export interface ChaosReport {
  readonly violations: readonly string[];
  readonly faults: Readonly<Record<string, number>>;
  readonly requests: Readonly<Record<string, number>>;
  readonly written: number;
  readonly longestGapMs: number;
}

const registers = ['one', 'two'];
const users = 6;
const pauseMaxMs = 150;
const lookMs = 100;
const startMs = 300_000;
/** After its store was full, a server needs this time to learn that there is room again. */
const fullMs = 90_000;

export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = temporaryFolder();
  try {
    return await chaosIn(folder, options);
  } finally {
    if (options.keep !== undefined) cpSync(folder.path, options.keep, { recursive: true });
    await folder.remove();
  }
}

async function chaosIn(folder: TemporaryFolder, options: ChaosOptions): Promise<ChaosReport> {
  const { mistake } = options;
  const checkout = mistake && plantIn(folder.path, mistake);
  const command = await installBundle(folder.path, checkout);
  const run = new Run(options);
  const choices = choicesOf(options.seed);
  const { violation } = run;
  const cluster = await ChaosCluster.start({ folder: folder.path, command, choices, violation });
  try {
    return await run.on(cluster, choices);
  } finally {
    await cluster.close();
  }
}

class Run {
  readonly #options: ChaosOptions;
  readonly #beganMs = performance.now();
  readonly #violations: string[] = [];
  #fullUntilMs = 0;

  constructor(options: ChaosOptions) {
    this.#options = options;
  }

  readonly violation = (sentence: string): void => {
    if (this.#violations.includes(sentence)) return;
    this.#violations.push(sentence);
    this.#logLine(`VIOLATION ${sentence}`);
  };

  async on(cluster: ChaosCluster, choices: Choices): Promise<ChaosReport> {
    const caller = new Caller({
      addresses: cluster.addresses,
      token: cluster.token,
      wrong: this.violation,
      isExplained: (reply, server) =>
        this.#isFull(reply) || waitsForLog(reply, cluster.servers[server]!),
    });
    const load = new Load(caller, choices, this.violation);
    await this.#start(cluster, caller);
    load.start();
    const schedule = this.#schedule(cluster, caller, choices);
    const endMs = performance.now() + this.#options.minutes * 60_000;
    while (performance.now() < endMs && !this.#isEnough) {
      if (schedule.strikes.has('disk full')) this.#fullUntilMs = performance.now() + fullMs;
      await pause(lookMs);
    }
    await schedule.end();
    cluster.mend();
    this.#logLine('the faults are over');
    // Otherwise the answers that are under way still count.
    if (this.#isEnough) caller.close();
    await load.end();
    const { longestGapMs } = caller;
    if (!this.#isEnough) await this.#rest(cluster, caller, load);
    caller.close();
    return {
      violations: this.#violations,
      faults: {
        ...Object.fromEntries([...schedule.counts].toSorted()),
        'clock with another rate': cluster.clockRates,
      },
      requests: { ...caller.counts, ...load.counts },
      written: load.written,
      longestGapMs,
    };
  }

  get #isEnough(): boolean {
    return this.#violations.length >= (this.#options.violationsMost ?? 20);
  }

  #logLine(sentence: string): void {
    const seconds = ((performance.now() - this.#beganMs) / 1000).toFixed(1);
    this.#options.progress(`${seconds.padStart(7)} ${sentence}`);
  }

  async #start(cluster: ChaosCluster, caller: Caller): Promise<void> {
    const endMs = performance.now() + startMs;
    while (cluster.servers.some(({ isReady }) => !isReady)) {
      if (performance.now() > endMs) throw new Error('the servers do not start');
      await pause(lookMs);
    }
    await cluster.startNodes(async () => {
      for (;;) {
        const asked = { method: 'PUT', url: '/v1/node/introduction-token' };
        const reply = await caller.ask(0, asked);
        if (reply?.status === 200) return reply.json.SecretID;
        if (performance.now() > endMs) throw new Error('no token for a node');
        await pause(lookMs);
      }
    });
    this.#logLine('the servers are ready');
  }

  #schedule(cluster: ChaosCluster, caller: Caller, choices: Choices): Schedule {
    const leader = async () => {
      const asked = { method: 'GET', url: '/v1/status/leader' };
      const reply = await caller.ask(choices.below(size), asked);
      const number = reply?.status === 200 ? cluster.numberAt(reply.json) : -1;
      return number < 0 ? undefined : number;
    };
    const handOver = (number: number) =>
      caller.ask(number, { method: 'PUT', url: '/v1/operator/leader/step-down' });
    return new Schedule({
      site: { cluster, choices, leader, handOver },
      kinds: this.#options.kinds ?? Object.keys(faultKinds),
      note: (sentence) => this.#logLine(sentence),
    });
  }

  /** A store that was full a while ago. */
  #isFull({ status, json }: Reply): boolean {
    const isFull = status === 503 && json?.code === 'store-full';
    return isFull && performance.now() < this.#fullUntilMs;
  }

  async #rest(cluster: ChaosCluster, caller: Caller, load: Load): Promise<void> {
    const { wishes } = load;
    const isRunning = (id: string) => processesNaming(`ROSTER_ALLOC_ID=${id}`).length > 0;
    const steps: readonly (readonly [string, () => Promise<readonly string[]>])[] = [
      ['the servers agree on a leader', () => unsettled(cluster, caller)],
      ['jobs can be registered', async () => ((await wishes.repeatAll()) ? [] : ['refused'])],
      ['jobs run as wanted', () => wishes.missing(isRunning)],
      ['the servers show the same state', () => differences(caller)],
    ];
    for (const [sentence, check] of steps) {
      const left = await settle(check);
      if (left.length === 0) this.#logLine(`at rest: ${sentence}`);
      else this.violation(`in vain waited for: ${sentence}: ${left.join('; ')}`);
    }
    for (let server = 0; server < size; server++) await load.readAllAt(server);
  }
}

/** A server that starts without a copy of the state, while etcd cannot be reached, waits for the log. */
export const waitsForLog = (
  { status, json }: Pick<Reply, 'status' | 'json'>,
  { isReady }: Pick<ChaosAgent, 'isReady'>,
): boolean =>
  !isReady &&
  status === 503 &&
  json?.code === 'not-ready' &&
  /the log cannot be read from/.test(json.detail);

/** The clients. */
class Load {
  readonly #caller: Caller;
  readonly #choices: Choices;
  readonly #violation: (sentence: string) => void;
  readonly #registers: RegisterUsers;
  readonly #appends: Appends;
  readonly #once: Once;
  readonly wishes: Wishes;
  readonly #turns: Promise<void>[] = [];
  readonly #asking = new Set<Promise<unknown>>();
  #server: number | undefined;
  #isOver = false;

  constructor(caller: Caller, choices: Choices, violation: (sentence: string) => void) {
    this.#caller = caller;
    this.#choices = choices;
    this.#violation = violation;
    const ask = (method: string, url: string, body?: object) =>
      this.#askServer({ method, url, body });
    const use = { choices, ask, violation };
    this.#appends = new Appends(use);
    this.#once = new Once(ask);
    this.wishes = new Wishes(use);
    this.#registers = new RegisterUsers({
      users,
      registers,
      pauseMaxMs,
      random: choices,
      fault: violation,
      ask: (_user, request) => this.#askServer(request),
      after: (delayMs, run) => {
        if (!this.#isOver) setTimeout(run, delayMs);
      },
    });
  }

  get written(): number {
    const { written } = this.#registers.counts;
    return written + this.#appends.counts.written + this.#once.written;
  }

  get counts(): Readonly<Record<string, number>> {
    const { unknown } = this.#registers.counts;
    return { 'of unknown outcome in histories': unknown + this.#appends.counts.unknown };
  }

  start(): void {
    this.#registers.start();
    for (const turn of [
      () => this.#appends.turn(),
      () => this.#appends.turn(),
      () => this.#once.turn(),
    ]) {
      this.#turns.push(this.#repeat(turn, pauseMaxMs));
    }
    this.#turns.push(this.#repeat(() => this.wishes.turn(), 20 * pauseMaxMs));
  }

  /** Resolves when no request is under way. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#registers.end();
    await Promise.all(this.#turns);
    while (this.#asking.size > 0) await Promise.all(this.#asking);
  }

  /** Reads everything at that server, and compares it with the history. */
  async readAllAt(server: number): Promise<void> {
    this.#server = server;
    await this.#registers.readAll(0);
    await this.#appends.readAll();
    const reply = await this.#askServer({ method: 'GET', url: '/v1/vars?prefix=once/' });
    if (reply?.status !== 200) this.#violation(`server ${server} does not list its variables`);
    else for (const fault of this.#once.faults(reply.json)) this.#violation(fault);
  }

  async #repeat(turn: () => Promise<void>, mostMs: number): Promise<void> {
    while (!this.#isOver) {
      await turn();
      await pause(this.#choices.below(mostMs));
    }
  }

  /** Asks any server, or the one that is to be read. */
  #askServer({ method, url, ...rest }: Asked): Promise<Reply | undefined> {
    const server = this.#server ?? this.#choices.below(size);
    const isConsistent = method === 'GET' && this.#choices.fraction() < 0.5;
    const whole = isConsistent ? `${url}${url.includes('?') ? '&' : '?'}consistent` : url;
    const asking = this.#caller.ask(server, { method, url: whole, ...rest });
    this.#asking.add(asking);
    return asking.finally(() => this.#asking.delete(asking));
  }
}
