/**
 * People and programs at work: jobs of all types come, change, fail and go, nodes are drained and taken
 * back, deployments are promoted. All of it through the API, over a network that may fail.
 */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { type Deployment, isTerminalDeployment } from '../src/model/deployment/deployment.ts';
import type { Ledger } from './checkers/acknowledged.ts';
import type { Network, Reply } from './network.ts';
import { Process } from './process.ts';
import { rootToken } from './server.ts';

const patienceMs = 10_000;
const pauseMaxMs = 20_000;
const jobsMax = 24;

type Kind = 'service' | 'batch' | 'system' | 'sysbatch';

/** What a job was last submitted as. */
interface Wanted {
  readonly kind: Kind;
  count: number;
  /** Another value is another version, whose tasks are replaced. */
  edition: number;
  /** Another value is another version, taken up in place. */
  note: number;
  exitCode: number;
  readonly cpuMhz: number;
  readonly memoryMb: number;
  readonly canaries: number;
  readonly autoPromote: boolean;
  readonly maxParallel: number;
  readonly hasPort: boolean;
  readonly spread: boolean;
  readonly lostAfter: boolean;
  readonly priority: number;
}

export class Workload {
  readonly #random: Random;
  readonly #network: Network;
  readonly #process: Process;
  readonly #ledger: Ledger;
  readonly #nodeIds: readonly string[];
  readonly #jobs = new Map<string, Wanted>();
  readonly #drained = new Set<string>();
  readonly #unexpected: (sentence: string) => void;
  #number = 0;
  #isOver = false;

  constructor(options: {
    readonly world: SimulatedWorld;
    readonly random: Random;
    readonly network: Network;
    readonly ledger: Ledger;
    readonly nodeIds: readonly string[];
    /** An answer that no good server gives. */
    readonly unexpected: (sentence: string) => void;
  }) {
    this.#random = options.random;
    this.#network = options.network;
    this.#ledger = options.ledger;
    this.#nodeIds = options.nodeIds;
    this.#unexpected = options.unexpected;
    this.#process = new Process(options.world);
  }

  start(): void {
    const again = () => {
      if (this.#isOver) return;
      const pause = () => {
        this.#process.world.timers.after(this.#random.below(pauseMaxMs), again);
      };
      this.#act().then(pause, pause);
    };
    again();
  }

  /** Nothing new happens; what is under way is brought to its end. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const id of this.#drained) await this.#surely('PUT', `/v1/node/${id}/drain`, undrain);
    for (const id of this.#nodeIds)
      await this.#surely('PUT', `/v1/node/${id}/eligibility`, eligible);
    // A job that ends in a state of which nobody knows whether it is wanted is submitted once more.
    for (const [name, wanted] of this.#jobs) {
      wanted.exitCode = 0;
      wanted.edition++;
      await this.#surely('PUT', '/v1/jobs', { Job: jobBody(name, wanted) }, ({ json }) =>
        this.#ledger.registered(name, json.JobModifyIndex),
      );
    }
    for (const [name] of this.#ledger.entries())
      if (this.#jobs.has(name)) this.#ledger.settled(name);
  }

  /** Promotes what waits for a person, so that every deployment comes to its end. */
  async promoteAll(): Promise<void> {
    const { status, json } = await this.#surely('GET', '/v1/deployments');
    if (status !== 200) return;
    for (const deployment of json as Deployment[]) {
      if (isTerminalDeployment(deployment)) continue;
      const waits = Object.values(deployment.TaskGroups).some(
        (group) => group.DesiredCanaries > 0 && !group.Promoted,
      );
      const { ID, Status } = deployment;
      if (Status === 'paused') await this.#resume(ID);
      if (waits)
        await this.#call('PUT', `/v1/deployment/promote/${ID}`, { DeploymentID: ID, All: true });
    }
  }

  async #act(): Promise<unknown> {
    const dice = this.#random.below(100);
    const names = [...this.#jobs.keys()];
    const name = names[this.#random.below(Math.max(names.length, 1))];
    if (name === undefined || (dice < 25 && names.length < jobsMax))
      return this.#register(this.#newJob());
    if (dice < 60) return this.#change(name);
    if (dice < 66) return this.#stop(name, false);
    if (dice < 72) return this.#stop(name, true);
    if (dice < 82) return this.#drain();
    if (dice < 92) return this.#promoteOne();
    return this.#pauseOne();
  }

  #newJob(): string {
    const random = this.#random;
    const dice = random.below(10);
    const kind = dice < 5 ? 'service' : dice < 7 ? 'batch' : dice < 9 ? 'system' : 'sysbatch';
    const name = `${kind}-${++this.#number}`;
    const canaries = random.below(3) === 0 ? 1 + random.below(2) : 0;
    this.#jobs.set(name, {
      kind,
      count: kind === 'service' || kind === 'batch' ? 1 + random.below(8) : 1,
      edition: 1,
      note: 1,
      exitCode: 0,
      cpuMhz: kind === 'service' || kind === 'batch' ? 100 + random.below(900) : 50,
      memoryMb: kind === 'service' || kind === 'batch' ? 64 + random.below(1000) : 32,
      ...{ canaries, autoPromote: random.below(2) === 0, maxParallel: 1 + random.below(3) },
      ...{ hasPort: random.below(3) === 0, spread: random.below(3) === 0 },
      ...{ lostAfter: random.below(4) === 0, priority: 30 + random.below(50) },
    });
    return name;
  }

  async #change(name: string): Promise<unknown> {
    const wanted = this.#jobs.get(name)!;
    const dice = this.#random.below(10);
    if (dice < 4) wanted.edition++;
    else if (dice < 6) wanted.note++;
    else if (dice < 8 && wanted.count > 0) wanted.count = this.#random.below(10);
    wanted.exitCode = wanted.exitCode === 0 && this.#random.below(6) === 0 ? 1 : 0;
    return this.#register(name);
  }

  async #register(name: string): Promise<void> {
    this.#ledger.begun(name);
    const reply = await this.#call('PUT', '/v1/jobs', {
      Job: jobBody(name, this.#jobs.get(name)!),
    });
    if (reply.status !== 200) return;
    this.#ledger.registered(name, reply.json.JobModifyIndex);
    this.#ledger.settled(name);
  }

  async #stop(name: string, purge: boolean): Promise<void> {
    this.#ledger.begun(name);
    const reply = await this.#call('DELETE', `/v1/job/${name}${purge ? '?purge=true' : ''}`);
    if (reply.status !== 200 && reply.status !== 404) return;
    if (purge) {
      this.#jobs.delete(name);
      this.#ledger.purged(name);
    }
    this.#ledger.settled(name);
  }

  async #drain(): Promise<unknown> {
    const [first] = this.#drained;
    if (first !== undefined && this.#random.below(2) === 0) {
      this.#drained.delete(first);
      await this.#call('PUT', `/v1/node/${first}/drain`, undrain);
      return this.#call('PUT', `/v1/node/${first}/eligibility`, eligible);
    }
    if (this.#drained.size > this.#nodeIds.length / 5) return undefined;
    const id = this.#nodeIds[this.#random.below(this.#nodeIds.length)]!;
    this.#drained.add(id);
    const Deadline = (60 + this.#random.below(300)) * 1e9;
    return this.#call('PUT', `/v1/node/${id}/drain`, { DrainSpec: { Deadline } });
  }

  async #active(): Promise<Deployment | undefined> {
    const { status, json } = await this.#call('GET', '/v1/deployments');
    if (status !== 200) return undefined;
    const active = (json as Deployment[]).filter((one) => !isTerminalDeployment(one));
    return active[this.#random.below(Math.max(active.length, 1))];
  }

  async #promoteOne(): Promise<unknown> {
    const active = await this.#active();
    if (active === undefined) return undefined;
    const { ID } = active;
    return this.#call('PUT', `/v1/deployment/promote/${ID}`, { DeploymentID: ID, All: true });
  }

  async #pauseOne(): Promise<unknown> {
    const active = await this.#active();
    if (active === undefined) return undefined;
    const { ID, Status } = active;
    if (Status === 'paused') return this.#resume(ID);
    return this.#call('PUT', `/v1/deployment/pause/${ID}`, { DeploymentID: ID, Pause: true });
  }

  #resume(ID: string): Promise<Reply> {
    return this.#call('PUT', `/v1/deployment/pause/${ID}`, { DeploymentID: ID, Pause: false });
  }

  async #call(method: string, url: string, body?: unknown): Promise<Reply> {
    const call = { method, url, token: rootToken, patienceMs, ...(body !== undefined && { body }) };
    const reply = await this.#network.call(this.#process, 'client', call);
    // No leader, writes closed and too many requests are what a client has to bear.
    if (reply.status >= 500 && reply.status !== 503) {
      this.#unexpected(
        `${method} ${url} was answered with ${reply.status}: ${JSON.stringify(reply.json)}`,
      );
    }
    return reply;
  }

  /** Asks until there is an answer. */
  async #surely(
    method: string,
    url: string,
    body?: unknown,
    answered: (reply: Reply) => void = () => {},
  ): Promise<Reply> {
    for (;;) {
      try {
        const reply = await this.#call(method, url, body);
        if (reply.status < 500) {
          if (reply.status === 200) answered(reply);
          return reply;
        }
      } catch {
        // Asked again below.
      }
      await new Promise<void>((go) => this.#process.world.timers.after(1000, go));
    }
  }
}

const undrain = { DrainSpec: null, MarkEligible: true };
const eligible = { Eligibility: 'eligible' };

function jobBody(name: string, wanted: Wanted) {
  const isOnce = wanted.kind === 'batch' || wanted.kind === 'sysbatch';
  const isFailing = wanted.exitCode !== 0;
  const seconds = 1e9;
  const update = {
    ...{ MaxParallel: wanted.maxParallel, HealthCheck: 'task_states', Canary: wanted.canaries },
    ...{
      MinHealthyTime: 5 * seconds,
      HealthyDeadline: 60 * seconds,
      ProgressDeadline: 180 * seconds,
    },
    ...{ AutoRevert: true, AutoPromote: wanted.canaries > 0 && wanted.autoPromote },
  };
  return {
    ...{ ID: name, Type: wanted.kind, Priority: wanted.priority, Datacenters: ['*'] },
    Meta: {},
    TaskGroups: [
      {
        Name: 'main',
        ...(wanted.kind !== 'system' && wanted.kind !== 'sysbatch' && { Count: wanted.count }),
        ...(wanted.kind === 'service' && {
          Update: update,
          Migrate: { MaxParallel: 1, HealthCheck: 'task_states', MinHealthyTime: 5 * seconds },
          ReschedulePolicy: {
            ...{ Unlimited: true, Delay: 15 * seconds, MaxDelay: 120 * seconds },
            DelayFunction: 'exponential',
          },
        }),
        RestartPolicy: { Attempts: 1, Delay: 2 * seconds, Interval: 60 * seconds, Mode: 'fail' },
        ...(wanted.lostAfter &&
          wanted.kind === 'service' && { Disconnect: { LostAfter: 300 * seconds } }),
        ...(wanted.spread &&
          wanted.kind === 'service' && {
            Spreads: [{ Attribute: '${meta.rack}', Weight: 50 }],
          }),
        ...(wanted.hasPort && { Networks: [{ DynamicPorts: [{ Label: 'http' }] }] }),
        Tasks: [
          {
            ...{ Name: 'task', Driver: 'mock', KillTimeout: wanted.note * seconds },
            Env: { EDITION: String(wanted.edition) },
            Config: {
              ...(isFailing && { run_for: '2s', exit_code: wanted.exitCode }),
              ...(isOnce && !isFailing && { run_for: '90s' }),
            },
            Resources: { CPU: wanted.cpuMhz, MemoryMB: wanted.memoryMb },
          },
        ],
      },
    ],
  };
}
