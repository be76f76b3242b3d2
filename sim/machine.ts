/**
 * A simulated machine with its agent: a client of the API like the real one, whose tasks are timers.
 *
 * 1. Tasks outlive the agent; they do not outlive the machine.
 * 2. What ran is taken up before the servers are asked what should run, and what they no longer name
 *    is ended.
 * 3. An allocation starts nothing while its predecessor on this machine has not ended, nor one that
 *    makes way for it, nor one that the servers have given up.
 * 4. A change is told until the servers have answered that they know it.
 */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Allocation, AllocationReport } from '../src/model/allocation/allocation.ts';
import type { Job } from '../src/model/job/job.ts';
import type { ServiceReporter } from '../src/node/hooks/services/service-reporter.ts';
import { type Hardware, registrationOf } from './hardware.ts';
import type { Call, Network, Reply } from './network.ts';
import { MachineClock, Process } from './process.ts';
import { Run } from './run.ts';
import { type RunningServer, rootToken } from './server.ts';
import { servicesOf, servicesReporter } from './services.ts';
import { openStream } from './stream.ts';

const patienceMs = 10_000;
const pollMs = 60_000;
const reportEveryMs = 200;
const moodMaxMs = 120_000;

export interface MachineOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  readonly network: Network;
  readonly server: (machine: string) => RunningServer | undefined;
  readonly hardware: Hardware;
  /** A task here has begun, or come to its end. */
  readonly moved: (run: Run) => void;
  /** An answer that no good server gives. */
  readonly unexpected: (sentence: string) => void;
}

interface Assignment {
  readonly Allocation: Allocation;
  readonly Job: Job | null;
}

export class Machine {
  readonly hardware: Hardware;
  readonly clock: MachineClock;
  /** What it runs or ran, by allocation. */
  readonly runs = new Map<string, Run>();
  readonly #options: MachineOptions;
  readonly #random: Random;
  readonly #secret: string;
  #power: Process;
  #agent: Process | undefined;
  #unreported = new Set<string>();
  /** What it was told to run and cannot. */
  readonly #refused = new Map<string, AllocationReport>();
  /** They wait for others here to end: for these. */
  readonly #held = new Map<Run, Set<Run>>();
  readonly #abandoned = new Set<Run>();
  #wakeReporter = () => {};
  #services: ServiceReporter | undefined;

  constructor(options: MachineOptions) {
    const { world, random, hardware } = options;
    this.#options = options;
    this.#random = random;
    this.hardware = hardware;
    this.#secret = world.secrets.uuid();
    this.clock = new MachineClock(world.clock);
    this.#power = new Process(world, this.clock);
  }

  get isUp(): boolean {
    return this.#power.isAlive;
  }

  get agent(): Process | undefined {
    return this.#agent?.isAlive ? this.#agent : undefined;
  }

  /** Starts the agent; it takes up what runs. */
  startAgent(): void {
    const agent = new Process(this.#options.world, this.clock);
    this.#agent = agent;
    this.#unreported = new Set(this.runs.keys());
    const loop = (firstMs: number, turn: () => Promise<number>) => {
      const again = () => {
        turn().then(
          (waitMs) => agent.world.timers.after(waitMs, again),
          () => agent.world.timers.after(this.#pauseMs(), again),
        );
      };
      agent.world.timers.after(firstMs, again);
    };
    this.#services = servicesReporter(
      agent,
      (Allocations) =>
        this.#call(agent, {
          ...{ method: 'PUT', url: `/v1/node/${this.hardware.id}/services`, body: { Allocations } },
        }),
      this.#options.unexpected,
    );
    for (const run of this.runs.values()) this.#tellServices(run);
    loop(this.#random.below(moodMaxMs), async () => this.#changeMood());
    const isIntroduced = { value: false };
    loop(0, () => this.#beat(agent, isIntroduced));
    loop(20 + this.#random.below(500), this.#assignmentsTurn(agent));
    loop(20 + this.#random.below(500), () => this.#reportTurn(agent));
    agent.world.timers.after(1000, () => this.#stream(agent));
  }

  killAgent(): void {
    this.#agent?.kill();
  }

  /** The machine loses power: its tasks end, unnoticed. */
  powerOff(): void {
    this.killAgent();
    this.#power.kill();
  }

  powerOn(): void {
    this.#power = new Process(this.#options.world, this.clock);
    const rebooted = [...this.runs.values()];
    this.runs.clear();
    this.#held.clear();
    this.#abandoned.clear();
    for (const run of rebooted) {
      if (run.isDone) continue;
      this.runs.set(run.id, this.#newRun(run.allocation, run.job));
    }
    for (const run of rebooted) {
      const again = this.runs.get(run.id);
      if (run.isStopping) again?.endAtOnce();
      else if (again !== undefined) this.#startWhenFree(again);
    }
    this.startAgent();
  }

  #pauseMs(): number {
    return 500 + this.#random.below(2000);
  }

  #call(agent: Process, call: Omit<Call, 'token' | 'patienceMs'>, waitMs = 0): Promise<Reply> {
    const patience = patienceMs + waitMs;
    const whole = { ...call, token: this.#secret, patienceMs: patience };
    return this.#options.network.call(agent, this.hardware.name, whole);
  }

  async #beat(agent: Process, isIntroduced: { value: boolean }): Promise<number> {
    const url = `/v1/node/${this.hardware.id}/heartbeat`;
    let reply = isIntroduced.value ? await this.#call(agent, { method: 'PUT', url }) : undefined;
    if (reply?.status !== 200) {
      reply = await this.#register(agent);
      isIntroduced.value = reply.status === 200;
      if (isIntroduced.value) this.#services?.repeat();
    }
    if (reply.status !== 200) return this.#pauseMs();
    // Half of the time it was given, so that one lost message is not yet a missed heartbeat.
    return Math.max(reply.json.HeartbeatTTL / 1e6 / 2, 1000);
  }

  #register(agent: Process): Promise<Reply> {
    return this.#options.network.call(agent, this.hardware.name, {
      method: 'PUT',
      url: '/v1/node/register',
      token: rootToken,
      patienceMs,
      body: { SecretID: this.#secret, Node: registrationOf(this.hardware) },
    });
  }

  #assignmentsTurn(agent: Process): () => Promise<number> {
    let index = 0;
    return async () => {
      const wait = index === 0 ? '' : `?index=${index}&wait=${pollMs / 1000}s`;
      const url = `/v1/node/${this.hardware.id}/assignments${wait}`;
      const reply = await this.#call(agent, { method: 'GET', url }, index === 0 ? 0 : pollMs);
      if (reply.status !== 200) {
        index = 0;
        return this.#pauseMs();
      }
      if (reply.index < index) index = 0;
      if (reply.index !== index) this.#apply(reply.json);
      index = reply.index;
      return 1;
    };
  }

  #apply(assignments: readonly Assignment[]): void {
    const named = new Set(assignments.map(({ Allocation }) => Allocation.ID));
    for (const run of this.runs.values()) {
      if (named.has(run.id)) continue;
      if (run.isDone) this.runs.delete(run.id);
      else this.#abandon(run);
    }
    // First of all what is there, so that what comes finds out whom it has to wait for.
    for (const assignment of assignments) {
      const run = this.runs.get(assignment.Allocation.ID);
      if (run !== undefined) this.#update(run, assignment);
    }
    for (const assignment of assignments) {
      if (!this.runs.has(assignment.Allocation.ID)) this.#begin(assignment);
    }
  }

  #update(run: Run, assignment: Assignment): void {
    const { Allocation } = assignment;
    if (run.allocation.AllocModifyIndex === Allocation.AllocModifyIndex) return;
    run.update(Allocation, jobOf(assignment) ?? run.job);
    if (Allocation.DesiredStatus !== 'run') run.stop();
    this.#tellServices(run);
  }

  /** The servers have given it up, and may give what it holds to others. */
  #abandon(run: Run): void {
    this.#abandoned.add(run);
    run.stop();
    this.#tellServices(run);
  }

  /** One that was stopped before it came here ends without having begun. */
  #begin(assignment: Assignment): void {
    const { Allocation: allocation } = assignment;
    const job = jobOf(assignment);
    const isWanted = allocation.DesiredStatus === 'run';
    if (job === undefined) {
      this.#refuse(allocation, isWanted);
      return;
    }
    const run = this.#newRun(allocation, job);
    this.runs.set(run.id, run);
    if (isWanted) this.#startWhenFree(run);
    else run.stop();
  }

  #startWhenFree(run: Run): void {
    const others = new Set([...this.#awaitedBy(run)].filter((other) => !other.isDone));
    if (others.size === 0) run.start();
    else this.#held.set(run, others);
  }

  *#awaitedBy(run: Run): Iterable<Run> {
    yield* this.#abandoned;
    const { PreviousAllocation, PreemptedAllocations } = run.allocation;
    const ids = new Set([PreviousAllocation, ...(PreemptedAllocations ?? [])]);
    for (const other of this.runs.values()) {
      if (other === run) continue;
      if (ids.has(other.id) || other.allocation.DesiredStatus === 'evict') yield other;
    }
  }

  /** Nobody knows any more what it is to run. */
  #refuse({ ID, DeploymentID }: Allocation, isWanted: boolean): void {
    if (this.#refused.has(ID)) return;
    this.#refused.set(ID, {
      ...{ ID, DeploymentID, ClientStatus: isWanted ? 'failed' : 'complete' },
      ...{ ClientDescription: 'The job was purged', TaskStates: {} },
      ...{ DeploymentStatus: null, NetworkStatus: null },
    });
    this.#unreported.add(ID);
    this.#wakeReporter();
  }

  #newRun(allocation: Allocation, job: Job): Run {
    const run = new Run(this.#power.world, allocation, job, () => this.#noted(run));
    return run;
  }

  #noted(changed: Run): void {
    this.#unreported.add(changed.id);
    this.#options.moved(changed);
    if (changed.isDone) this.#release(changed);
    this.#tellServices(changed);
    this.#wakeReporter();
  }

  #tellServices(run: Run): void {
    if (run.group.Services === null) return;
    this.#services?.report({ AllocID: run.id, Services: [...servicesOf(run)] });
  }

  /** A check of one of its runs says something else. */
  #changeMood(): number {
    const serving = [...this.runs.values()].filter(({ isServing }) => isServing);
    const run = serving[this.#random.below(Math.max(serving.length, 1))];
    if (run !== undefined) {
      run.turn();
      this.#tellServices(run);
    }
    return this.#random.below(moodMaxMs);
  }

  /** Those that waited for it alone may start. */
  #release(done: Run): void {
    this.#abandoned.delete(done);
    for (const [run, others] of this.#held) {
      if (!others.delete(done) || others.size > 0) continue;
      this.#held.delete(run);
      if (!run.isDone) run.start();
    }
  }

  async #reportTurn(agent: Process): Promise<number> {
    if (this.#unreported.size === 0) {
      await new Promise<void>((wake) => {
        this.#wakeReporter = () => agent.post(wake);
      });
      return reportEveryMs;
    }
    const ids = [...this.#unreported];
    this.#unreported.clear();
    const Allocations = ids.flatMap(
      (id) => this.runs.get(id)?.report ?? this.#refused.get(id) ?? [],
    );
    if (Allocations.length === 0) return 1;
    const body = { Allocations };
    const url = `/v1/node/${this.hardware.id}/status`;
    try {
      const reply = await this.#call(agent, { method: 'PUT', url, body });
      if (reply.status !== 200) throw new Error(`${reply.status}`);
      for (const id of ids) this.#refused.delete(id);
      return reportEveryMs;
    } catch (error) {
      for (const id of ids) this.#unreported.add(id);
      throw error;
    }
  }

  #stream(agent: Process): void {
    const { network, server } = this.#options;
    const running = server(this.hardware.name);
    const again = () => agent.world.timers.after(this.#pauseMs(), () => this.#stream(agent));
    if (running === undefined) {
      again();
      return;
    }
    const { name: machine, id: nodeId } = this.hardware;
    const runOf = (id: string) => this.runs.get(id);
    openStream({ agent, server: running, network, machine, nodeId, runOf }, again);
  }
}

/** Once a job was purged, its id may name another registration: that is not this one's job. */
const jobOf = ({ Allocation, Job }: Assignment): Job | undefined =>
  Job?.CreateIndex === Allocation.JobCreateIndex ? Job : undefined;
