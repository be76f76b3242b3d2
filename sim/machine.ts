/**
 * A simulated machine with its agent: a client of the API like the real one, whose tasks are timers.
 *
 * 1. Tasks outlive the agent; they do not outlive the machine.
 * 2. What ran is taken up before the servers are asked what should run, and what they no longer name
 *    is ended.
 * 3. An allocation starts nothing while its predecessor on this machine, one that was evicted, or one
 *    that the servers have given up, has not ended.
 * 4. A change is told until the servers have answered that they know it.
 */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Allocation } from '../src/model/allocation/allocation.ts';
import type { Job } from '../src/model/job/job.ts';
import type { Call, Network, Reply } from './network.ts';
import { Process } from './process.ts';
import { Run } from './run.ts';
import { introductionToken } from './server.ts';

export interface Hardware {
  readonly id: string;
  readonly name: string;
  readonly datacenter: string;
  readonly rack: string;
  readonly cpuMhz: number;
  readonly memoryMb: number;
}

interface Assignment {
  readonly Allocation: Allocation;
  readonly Job: Job | null;
}

const patienceMs = 10_000;
const pollMs = 60_000;
const reportEveryMs = 200;

export class Machine {
  readonly hardware: Hardware;
  /** What it runs or ran, by allocation. */
  readonly runs = new Map<string, Run>();
  readonly #world: SimulatedWorld;
  readonly #random: Random;
  readonly #network: Network;
  readonly #secret: string;
  #power: Process;
  #agent: Process | undefined;
  #unreported = new Set<string>();
  /** They wait for others here to end. */
  readonly #held = new Set<Run>();
  readonly #abandoned = new Set<Run>();
  #wakeReporter = () => {};

  constructor(world: SimulatedWorld, random: Random, network: Network, hardware: Hardware) {
    this.#world = world;
    this.#random = random;
    this.#network = network;
    this.hardware = hardware;
    this.#secret = world.secrets.uuid();
    this.#power = new Process(world);
  }

  get isUp(): boolean {
    return this.#power.isAlive;
  }

  get agent(): Process | undefined {
    return this.#agent?.isAlive ? this.#agent : undefined;
  }

  /** Starts the agent; it takes up what runs. */
  startAgent(): void {
    const agent = new Process(this.#world);
    this.#agent = agent;
    this.#unreported = new Set(this.runs.keys());
    const loop = (name: string, turn: () => Promise<number>) => {
      const again = () => {
        if (!agent.isAlive) return;
        turn().then(
          (waitMs) => agent.world.timers.after(waitMs, again),
          () => agent.world.timers.after(this.#pauseMs(), again),
        );
      };
      agent.world.timers.after(name === 'heartbeat' ? 0 : 20 + this.#random.below(500), again);
    };
    loop('heartbeat', () => this.#beat(agent));
    loop('assignments', this.#assignmentsTurn(agent));
    loop('reports', () => this.#reportTurn(agent));
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
    this.#power = new Process(this.#world);
    const rebooted = [...this.runs.values()];
    this.runs.clear();
    this.#held.clear();
    this.#abandoned.clear();
    for (const run of rebooted) {
      if (!run.isDone) this.runs.set(run.id, this.#newRun(run.allocation, run.job));
    }
    for (const run of this.runs.values()) {
      if (this.#isHeld(run)) this.#held.add(run);
      else run.start();
    }
    this.startAgent();
  }

  #pauseMs(): number {
    return 500 + this.#random.below(2000);
  }

  #call(agent: Process, call: Omit<Call, 'token' | 'patienceMs'>, waitMs = 0): Promise<Reply> {
    const patience = patienceMs + waitMs;
    const whole = { ...call, token: this.#secret, patienceMs: patience };
    return this.#network.call(agent, this.hardware.name, whole);
  }

  async #beat(agent: Process): Promise<number> {
    const url = `/v1/node/${this.hardware.id}/heartbeat`;
    let reply = await this.#call(agent, { method: 'PUT', url });
    if (reply.status !== 200) reply = await this.#register(agent);
    if (reply.status !== 200) return this.#pauseMs();
    // Half of the time it was given, so that one lost message is not yet a missed heartbeat.
    return Math.max(reply.json.HeartbeatTTL / 1e6 / 2, 1000);
  }

  #register(agent: Process): Promise<Reply> {
    const { id, name, datacenter, rack, cpuMhz, memoryMb } = this.hardware;
    return this.#network.call(agent, name, {
      method: 'PUT',
      url: '/v1/node/register',
      token: introductionToken,
      patienceMs,
      body: {
        SecretID: this.#secret,
        Node: {
          ...{ ID: id, Name: name, Datacenter: datacenter, Meta: { rack } },
          Attributes: { 'kernel.name': 'linux' },
          NodeResources: {
            Cpu: { CpuShares: cpuMhz, TotalCpuCores: 4 },
            Memory: { MemoryMB: memoryMb },
            Disk: { DiskMB: 100_000 },
            Networks: [{ Mode: 'host', Device: 'eth0', IP: '10.0.0.1' }],
          },
          Drivers: { mock: { Detected: true, Healthy: true } },
        },
      },
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
    const isNew = ({ Allocation }: Assignment) => !this.runs.has(Allocation.ID);
    const begun = assignments.filter(isNew);
    for (const { Allocation, Job } of assignments) {
      const run = this.runs.get(Allocation.ID);
      if (run === undefined) continue;
      if (Allocation.DesiredStatus !== 'run') run.stop(Allocation);
      else if (Job !== null && run.allocation.AllocModifyIndex !== Allocation.AllocModifyIndex) {
        run.update(Allocation, Job);
      }
    }
    // Only now is it known what has to end first.
    for (const { Allocation, Job } of begun) {
      this.#begin(Allocation, Job, Allocation.DesiredStatus === 'run');
    }
  }

  /** The servers have given it up, and may give what it holds to others. */
  #abandon(run: Run): void {
    this.#abandoned.add(run);
    run.stop();
  }

  /** One that was stopped before it came here ends without having begun. */
  #begin(allocation: Allocation, job: Job | null, isWanted: boolean): void {
    if (job === null) return;
    const run = this.#newRun(allocation, job);
    this.runs.set(run.id, run);
    if (!isWanted) run.stop();
    else if (this.#isHeld(run)) this.#held.add(run);
    else run.start();
  }

  #isHeld(run: Run): boolean {
    const { PreviousAllocation, PreemptedAllocations } = run.allocation;
    const awaited = new Set([PreviousAllocation, ...(PreemptedAllocations ?? [])]);
    for (const other of this.runs.values()) {
      const isAwaited = awaited.has(other.id) || other.allocation.DesiredStatus === 'evict';
      if (isAwaited && other !== run && !other.isDone) return true;
    }
    return [...this.#abandoned].some((one) => !one.isDone);
  }

  #newRun(allocation: Allocation, job: Job): Run {
    const power = this.#power;
    return new Run(power.world, allocation, job, () => this.#noted(allocation.ID));
  }

  #noted(id: string): void {
    this.#unreported.add(id);
    for (const run of this.#abandoned) if (run.isDone) this.#abandoned.delete(run);
    for (const run of this.#held) {
      if (this.#isHeld(run)) continue;
      this.#held.delete(run);
      if (!run.isDone) run.start();
    }
    this.#wakeReporter();
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
    const known = ids.flatMap((id) => this.runs.get(id) ?? []);
    if (known.length === 0) return 1;
    const body = { Allocations: known.map((run) => run.report) };
    const url = `/v1/node/${this.hardware.id}/status`;
    try {
      const reply = await this.#call(agent, { method: 'PUT', url, body });
      if (reply.status !== 200) throw new Error(`${reply.status}`);
      return reportEveryMs;
    } catch (error) {
      for (const id of ids) this.#unreported.add(id);
      throw error;
    }
  }
}
