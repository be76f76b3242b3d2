/**
 * A simulated machine with its agent: a client of the API like the real agent, whose tasks are timers.
 *
 * 1. Tasks outlive the agent. They end when the machine loses power.
 * 2. A new agent takes over the running tasks before it asks for its assignments, and ends all runs that
 *    are not assigned.
 * 3. A run starts only after its predecessor on this machine, all runs that are evicted for it, and all
 *    runs that the servers gave up have ended.
 * 4. A change is reported until the servers have confirmed it. An agent remembers its refusals no longer than it lives:
 *    the next agent refuses and reports the same assignments anew.
 */
import type { Random, Timer } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Allocation, AllocationReport } from '../src/model/allocation/allocation.ts';
import type { Job } from '../src/model/job/job.ts';
import type { RestoredForNode } from '../src/model/snapshot/restore-record.ts';
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
  /** Whether users restore snapshots. */
  readonly hasRestores: boolean;
  /** A task of the machine changed its state. */
  readonly moved: (run: Run) => void;
  /** A run ends because the servers no longer name it. */
  readonly abandoned: (run: Run) => void;
  /** Takes an answer that no correct server gives. */
  readonly unexpected: (sentence: string) => void;
}

interface Assignment {
  readonly Allocation: Allocation;
  readonly Job: Job | null;
}

export class Machine {
  readonly hardware: Hardware;
  readonly clock: MachineClock;
  /** All runs, also ended ones, by allocation. */
  readonly runs = new Map<string, Run>();
  readonly #options: MachineOptions;
  readonly #random: Random;
  readonly #secret: string;
  #power: Process;
  #agent: Process | undefined;
  #unreported = new Set<string>();
  /** Reports of assignments whose job is unknown. */
  readonly #refused = new Map<string, AllocationReport>();
  /** Runs that wait for other runs to end. */
  readonly #held = new Map<Run, Set<Run>>();
  /** Runs that end because the servers gave them up. */
  readonly #abandoned = new Set<Run>();
  /** Whether runs go on that the servers do not name, as these have restored a snapshot. */
  #keepsUnnamed = false;
  /** Index of the last restore that the agent has heard of. */
  #restored = 0;
  #graceEnd: Timer | undefined;
  /** Ids of the allocations that the servers named last. */
  #named: ReadonlySet<string> = new Set();
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

  startAgent(): void {
    const agent = new Process(this.#options.world, this.clock);
    this.#agent = agent;
    this.#unreported = new Set(this.runs.keys());
    this.#refused.clear();
    this.#restored = 0;
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
        this.#callServer(agent, {
          method: 'PUT',
          url: `/v1/node/${this.hardware.id}/services`,
          body: { Allocations },
        }),
      this.#options.unexpected,
    );
    for (const run of this.runs.values()) this.#tellServices(run);
    loop(this.#random.below(moodMaxMs), async () => this.#changeMood());
    const isIntroduced = { value: false };
    loop(0, () => this.#beatTurn(agent, isIntroduced));
    loop(20 + this.#random.below(500), this.#assignmentsTurn(agent, isIntroduced));
    loop(20 + this.#random.below(500), () => this.#reportTurn(agent));
    agent.world.timers.after(1000, () => this.#openStream(agent));
  }

  killAgent(): void {
    this.#agent?.kill();
  }

  /** Ends all tasks; nobody learns of it. */
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

  #callServer(
    agent: Process,
    call: Omit<Call, 'token' | 'patienceMs'>,
    waitMs = 0,
  ): Promise<Reply> {
    const patience = patienceMs + waitMs;
    const whole = { ...call, token: this.#secret, patienceMs: patience };
    return this.#options.network.call(agent, this.hardware.name, whole);
  }

  async #beatTurn(agent: Process, isIntroduced: { value: boolean }): Promise<number> {
    const call = { method: 'PUT', url: `/v1/node/${this.hardware.id}/heartbeat` };
    let reply = isIntroduced.value ? await this.#callServer(agent, call) : undefined;
    if (reply?.status !== 200) {
      if (this.#options.hasRestores) isIntroduced.value = false;
      reply = await this.#registerNode(agent);
      isIntroduced.value = reply.status === 200;
      if (isIntroduced.value) this.#services?.repeat();
      if (isIntroduced.value && reply.json.Restored) this.#keepUnnamed(reply.json.Restored);
    }
    if (reply.status !== 200) return this.#pauseMs();
    // Half of the allowed time, so that a single lost message does not miss the heartbeat.
    return Math.max(reply.json.HeartbeatTTL / 1e6 / 2, 1000);
  }

  #registerNode(agent: Process): Promise<Reply> {
    return this.#options.network.call(agent, this.hardware.name, {
      method: 'PUT',
      url: '/v1/node/register',
      token: rootToken,
      patienceMs,
      body: { SecretID: this.#secret, Node: registrationOf(this.hardware) },
    });
  }

  /** After a restore it asks only when a registration was answered, since the answer tells of the restore. */
  #assignmentsTurn(agent: Process, isIntroduced: { value: boolean }): () => Promise<number> {
    const { hasRestores } = this.#options;
    let index = 0;
    return async () => {
      if (hasRestores && !isIntroduced.value) return this.#pauseMs();
      const heard = `restored=${this.#restored}`;
      const query = index === 0 ? heard : `${heard}&index=${index}&wait=${pollMs / 1000}s`;
      const url = `/v1/node/${this.hardware.id}/assignments?${query}`;
      const reply = await this.#callServer(agent, { method: 'GET', url }, index === 0 ? 0 : pollMs);
      if (reply.status !== 200) {
        if (hasRestores && reply.status === 404) isIntroduced.value = false;
        index = 0;
        return this.#pauseMs();
      }
      if (reply.index < index) index = 0;
      if (reply.index !== index) this.#applyAssignments(reply.json);
      index = reply.index;
      return 1;
    };
  }

  #applyAssignments(assignments: readonly Assignment[]): void {
    const named = new Set(assignments.map(({ Allocation }) => Allocation.ID));
    for (const run of this.runs.values()) {
      if (named.has(run.id)) continue;
      if (run.isDone) this.runs.delete(run.id);
      else if (!this.#keepsUnnamed) this.#abandonRun(run);
    }
    this.#named = named;
    // Known runs are updated first, because new runs wait for those that are to end.
    for (const assignment of assignments) {
      const run = this.runs.get(assignment.Allocation.ID);
      if (run !== undefined) this.#updateRun(run, assignment);
    }
    for (const assignment of assignments) {
      if (!this.runs.has(assignment.Allocation.ID)) this.#beginRun(assignment);
    }
  }

  #updateRun(run: Run, assignment: Assignment): void {
    const { Allocation } = assignment;
    if (run.allocation.AllocModifyIndex === Allocation.AllocModifyIndex) return;
    run.update(Allocation, jobOf(assignment) ?? run.job);
    if (Allocation.DesiredStatus !== 'run') run.stop();
    this.#tellServices(run);
  }

  /** The servers have restored a snapshot, which may be older than the runs: all of them are reported again. */
  #keepUnnamed({ Index, UnknownFor }: RestoredForNode): void {
    this.#keepsUnnamed = true;
    this.#restored = Index;
    for (const id of this.runs.keys()) this.#unreported.add(id);
    this.#wakeReporter();
    this.#graceEnd?.clear();
    this.#graceEnd = this.#power.world.timers.after(UnknownFor / 1e6, () => {
      this.#keepsUnnamed = false;
      for (const run of this.runs.values()) {
        if (!this.#named.has(run.id) && !run.isDone) this.#abandonRun(run);
      }
    });
  }

  /** The servers have given up the run, and may give its resources to other allocations. */
  #abandonRun(run: Run): void {
    this.#abandoned.add(run);
    this.#options.abandoned(run);
    run.stop();
    this.#tellServices(run);
  }

  /** A run that was stopped before its assignment arrived ends without having begun. */
  #beginRun(assignment: Assignment): void {
    const { Allocation: allocation } = assignment;
    const job = jobOf(assignment);
    const isWanted = allocation.DesiredStatus === 'run';
    if (job === undefined) {
      this.#refuseAllocation(allocation, isWanted);
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

  /** Reports the end of an allocation whose job was purged. */
  #refuseAllocation({ ID, DeploymentID }: Allocation, isWanted: boolean): void {
    if (this.#refused.has(ID)) return;
    this.#refused.set(ID, {
      ID,
      DeploymentID,
      ClientStatus: isWanted ? 'failed' : 'complete',
      ClientDescription: 'The job was purged',
      TaskStates: {},
      DeploymentStatus: null,
      NetworkStatus: null,
    });
    this.#unreported.add(ID);
    this.#wakeReporter();
  }

  #newRun(allocation: Allocation, job: Job): Run {
    const run = new Run(this.#power.world, allocation, job, () => this.#noteChange(run));
    return run;
  }

  #noteChange(changed: Run): void {
    this.#unreported.add(changed.id);
    this.#options.moved(changed);
    if (changed.isDone) this.#releaseHeld(changed);
    this.#tellServices(changed);
    this.#wakeReporter();
  }

  #tellServices(run: Run): void {
    if (run.group.Services === null) return;
    this.#services?.report({ AllocID: run.id, Services: [...servicesOf(run)] });
  }

  /** Flips the result of a check of a random run. */
  #changeMood(): number {
    const serving = [...this.runs.values()].filter(({ isServing }) => isServing);
    const run = serving[this.#random.below(Math.max(serving.length, 1))];
    if (run !== undefined) {
      run.flipCheck();
      this.#tellServices(run);
    }
    return this.#random.below(moodMaxMs);
  }

  /** Starts the runs that waited only for this one. */
  #releaseHeld(done: Run): void {
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
      const reply = await this.#callServer(agent, { method: 'PUT', url, body });
      if (reply.status !== 200) throw new Error(`${reply.status}`);
      for (const id of ids) this.#refused.delete(id);
      return reportEveryMs;
    } catch (error) {
      for (const id of ids) this.#unreported.add(id);
      throw error;
    }
  }

  #openStream(agent: Process): void {
    const { network, server } = this.#options;
    const running = server(this.hardware.name);
    const again = () => agent.world.timers.after(this.#pauseMs(), () => this.#openStream(agent));
    if (running === undefined) {
      again();
      return;
    }
    const { name: machine, id: nodeId } = this.hardware;
    const runOf = (id: string) => this.runs.get(id);
    openStream({ agent, server: running, network, machine, nodeId, runOf }, again);
  }
}

/** The job of the allocation. After a purge, the assignment may have another job of the same id. */
const jobOf = ({ Allocation, Job }: Assignment): Job | undefined =>
  Job?.CreateIndex === Allocation.JobCreateIndex ? Job : undefined;
