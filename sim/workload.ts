/**
 * Users at work: they submit, change, stop and purge jobs, drain, undrain and purge nodes, promote, pause
 * and fail deployments, and stop and restart allocations. Several users call the API at the same time,
 * over the simulated network.
 */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { type Deployment, isTerminalDeployment } from '../src/model/deployment/deployment.ts';
import { Client } from './client.ts';
import { Hasty } from './hasty.ts';
import { bodyOf, kinds, newShape, type Shape, usual } from './jobs.ts';
import { Launches } from './launches.ts';
import type { Network } from './network.ts';

const pauseMaxMs = 60_000;
const jobsMax = 24;
const people = 3;
/** Created before the first job, since jobs may name the pool before a node of it registers. */
const otherPool = 'other';

export interface WorkloadOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  readonly network: Network;
  readonly nodeIds: readonly string[];
  /** Random stream of the users in a hurry; absent in a calm life. */
  readonly hurry?: Random;
  /** Takes an answer that no correct server gives. */
  readonly unexpected: (sentence: string) => void;
}

type Act = () => Promise<unknown>;

export class Workload {
  readonly #random: Random;
  readonly #client: Client;
  readonly #nodeIds: readonly string[];
  /** The newest submission of each job, and the submission before it. */
  readonly #jobs = new Map<string, { now: Shape; before: Shape }>();
  readonly #drained = new Set<string>();
  readonly #hasty: Hasty | undefined;
  readonly #acts: readonly (readonly [weight: number, act: Act])[];
  #number = 0;
  #isOver = false;

  constructor({ world, random, network, nodeIds, hurry, unexpected }: WorkloadOptions) {
    this.#random = random;
    this.#client = new Client({ world, network, unexpected });
    this.#nodeIds = nodeIds;
    this.#hasty = hurry && new Hasty(hurry, this.#client);
    const launches = new Launches(random, this.#client);
    this.#acts = [
      [15, launches.act],
      [22, () => this.#newJob()],
      [30, () => this.#onJob((name) => this.#changeJob(name))],
      [5, () => this.#onJob((name) => this.#revertJob(name))],
      [5, () => this.#onJob((name) => this.#stopJob(name, false))],
      [6, () => this.#onJob((name) => this.#stopJob(name, true))],
      [10, () => this.#drain()],
      [4, () => this.#setEligibility()],
      [1, () => this.#purgeNode()],
      [2, () => this.#evaluateNode()],
      [8, () => this.#onDeployment((one) => this.#promote(one))],
      [5, () => this.#onDeployment((one) => this.#pause(one))],
      [2, () => this.#onDeployment((one) => this.#failDeployment(one))],
      [2, () => this.#onDeployment((one) => this.#setHealth(one))],
      [5, () => this.#onAllocation((id) => this.#stopAllocation(id))],
      [3, () => this.#onAllocation((id) => this.#restartAllocation(id))],
      [2, () => this.#configure()],
      [2, () => this.#deleteEvaluations()],
    ];
  }

  start(): void {
    const body = { Description: 'kept apart' };
    void this.#client.surely('PUT', `/v1/node/pool/${otherPool}`, body);
    for (let person = 0; person < people; person++) {
      const again = () => {
        if (this.#isOver) return;
        const pause = () => this.#client.after(this.#random.below(pauseMaxMs), again);
        this.#chooseAct()().then(pause, pause);
      };
      this.#client.after(this.#random.below(pauseMaxMs), again);
    }
    this.#hasty?.start();
  }

  /** Stops the users. Cancels half of the drains and makes all nodes without a drain eligible. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#hasty?.end();
    const undrain = { DrainSpec: null, MarkEligible: true };
    const drained = [...this.#drained].filter(() => this.#random.below(2) === 0);
    for (const id of this.#drained) {
      if (drained.includes(id)) continue;
      await this.#client.surely('PUT', `/v1/node/${id}/drain`, undrain);
    }
    for (const id of this.#nodeIds) {
      if (drained.includes(id)) continue;
      await this.#client.surely('PUT', `/v1/node/${id}/eligibility`, { Eligibility: 'eligible' });
    }
    await this.repair();
  }

  /** Submits repaired versions of failing jobs, resumes paused deployments and promotes canaries. */
  async repair(): Promise<void> {
    const { json } = await this.#client.surely('GET', '/v1/deployments');
    const deployments = json as readonly Deployment[];
    for (const deployment of deployments) {
      if (isTerminalDeployment(deployment)) continue;
      if (deployment.Status === 'paused') await this.#resume(deployment);
      await this.#promote(deployment).catch(() => {});
    }
    const failed = new Set(deployments.filter(({ Status }) => Status === 'failed').map(keyOf));
    for (const [name, { now }] of [...this.#jobs]) {
      const { status, json: job } = await this.#client.surely('GET', `/v1/job/${name}`);
      if (status !== 200 || job.Stop) continue;
      const isFailing = now.behaviour !== usual(now.kind);
      if (isFailing || failed.has(`${name} ${job.Version}`)) await this.#repairJob(name);
    }
    await this.#hasty?.repair(failed);
  }

  async #repairJob(name: string): Promise<void> {
    const { now } = this.#jobs.get(name)!;
    const shape = { ...now, edition: now.edition + 1, behaviour: usual(now.kind) };
    this.#jobs.set(name, { now: shape, before: now });
    await this.#client.surely('PUT', '/v1/jobs', { Job: bodyOf(shape) });
  }

  #chooseAct(): Act {
    let dice = this.#random.below(this.#acts.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, act] of this.#acts) {
      if (dice < weight) return act;
      dice -= weight;
    }
    return this.#acts[0]![1];
  }

  #oneOf<T>(things: readonly T[]): T | undefined {
    return things[this.#random.below(Math.max(things.length, 1))];
  }

  async #newJob(): Promise<void> {
    if (this.#jobs.size >= jobsMax) return;
    const dice = this.#random.below(10);
    const kind = kinds[dice < 5 ? 0 : dice < 7 ? 1 : dice < 9 ? 2 : 3]!;
    const name = `${kind}-${++this.#number}`;
    await this.#submitJob(newShape(name, kind, this.#random));
  }

  async #submitJob(shape: Shape): Promise<void> {
    const before = this.#jobs.get(shape.name)?.now ?? shape;
    this.#jobs.set(shape.name, { now: shape, before });
    await this.#client.must('PUT', '/v1/jobs', { Job: bodyOf(shape) });
  }

  async #onJob(act: (name: string) => Promise<unknown>): Promise<void> {
    const name = this.#oneOf([...this.#jobs.keys()]);
    if (name !== undefined) await act(name);
  }

  #changeJob(name: string): Promise<void> {
    const { now } = this.#jobs.get(name)!;
    const random = this.#random;
    const dice = random.below(10);
    const isHealed = now.behaviour !== usual(now.kind) && random.below(2) === 0;
    const turnsBad = random.below(6) === 0;
    const behaviour = turnsBad ? (random.below(2) === 0 ? 'crash' : 'wear out') : now.behaviour;
    const isRepeated = now.kind === 'service' || now.kind === 'batch';
    return this.#submitJob({
      ...now,
      edition: dice < 4 ? now.edition + 1 : now.edition,
      note: dice >= 4 && dice < 6 ? now.note + 1 : now.note,
      behaviour: isHealed ? usual(now.kind) : behaviour,
      groups: now.groups.map((group) => ({
        ...group,
        count: isRepeated && dice >= 6 && dice < 8 ? random.below(10) : group.count,
        cpuMhz: isRepeated && dice === 8 ? 100 + random.below(900) : group.cpuMhz,
      })),
    });
  }

  /** Reverts a job by submitting its previous version. */
  #revertJob(name: string): Promise<void> {
    return this.#submitJob(this.#jobs.get(name)!.before);
  }

  async #stopJob(name: string, purge: boolean): Promise<void> {
    const query = purge
      ? '?purge=true'
      : this.#random.below(3) === 0
        ? '?no_shutdown_delay=true'
        : '';
    const { status } = await this.#client.call('DELETE', `/v1/job/${name}${query}`);
    if (purge && (status === 200 || status === 404)) this.#jobs.delete(name);
  }

  async #drain(): Promise<unknown> {
    const random = this.#random;
    const [first] = this.#drained;
    if (first !== undefined && random.below(2) === 0) {
      this.#drained.delete(first);
      const MarkEligible = random.below(4) > 0;
      const body = { DrainSpec: null, MarkEligible };
      return this.#client.call('PUT', `/v1/node/${first}/drain`, body);
    }
    if (this.#drained.size > this.#nodeIds.length / 5) return undefined;
    const id = this.#oneOf(this.#nodeIds)!;
    this.#drained.add(id);
    const dice = random.below(10);
    const Deadline = dice === 0 ? -1 : dice === 1 ? 0 : (60 + random.below(600)) * 1e9;
    const DrainSpec = { Deadline, IgnoreSystemJobs: random.below(3) === 0 };
    return this.#client.call('PUT', `/v1/node/${id}/drain`, {
      DrainSpec,
      MarkEligible: random.below(2) === 0,
    });
  }

  #setEligibility(): Promise<unknown> {
    const Eligibility = this.#random.below(3) === 0 ? 'ineligible' : 'eligible';
    const id = this.#oneOf(this.#nodeIds)!;
    return this.#client.call('PUT', `/v1/node/${id}/eligibility`, { Eligibility });
  }

  /** Purges a node. If its machine runs, it registers anew. */
  async #purgeNode(): Promise<void> {
    const id = this.#oneOf(this.#nodeIds)!;
    await this.#client.call('PUT', `/v1/node/${id}/purge`);
    this.#drained.delete(id);
  }

  #evaluateNode(): Promise<unknown> {
    return this.#client.call('PUT', `/v1/node/${this.#oneOf(this.#nodeIds)!}/evaluate`);
  }

  async #onDeployment(act: (deployment: Deployment) => Promise<unknown>): Promise<void> {
    const { status, json } = await this.#client.call('GET', '/v1/deployments');
    if (status !== 200) return;
    const active = (json as readonly Deployment[]).filter((one) => !isTerminalDeployment(one));
    const one = this.#oneOf(active);
    if (one !== undefined) await act(one);
  }

  #promote({ ID, TaskGroups }: Deployment): Promise<unknown> {
    const waits = Object.values(TaskGroups).some(
      ({ DesiredCanaries, Promoted }) => DesiredCanaries > 0 && !Promoted,
    );
    if (!waits) return Promise.resolve();
    const body = { DeploymentID: ID, All: true };
    return this.#client.call('PUT', `/v1/deployment/promote/${ID}`, body);
  }

  #pause(deployment: Deployment): Promise<unknown> {
    const { ID, Status } = deployment;
    if (Status === 'paused') return this.#resume(deployment);
    const body = { DeploymentID: ID, Pause: true };
    return this.#client.call('PUT', `/v1/deployment/pause/${ID}`, body);
  }

  #resume({ ID }: Deployment): Promise<unknown> {
    const body = { DeploymentID: ID, Pause: false };
    return this.#client.call('PUT', `/v1/deployment/pause/${ID}`, body);
  }

  #failDeployment({ ID }: Deployment): Promise<unknown> {
    return this.#client.call('PUT', `/v1/deployment/fail/${ID}`);
  }

  /** Sets the health of an allocation by hand. */
  async #setHealth({ ID }: Deployment): Promise<void> {
    const { status, json } = await this.#client.call('GET', `/v1/deployment/allocations/${ID}`);
    const one = status === 200 ? this.#oneOf(json as readonly { ID: string }[]) : undefined;
    if (one === undefined) return;
    const isWell = this.#random.below(3) > 0;
    await this.#client.call('PUT', `/v1/deployment/allocation-health/${ID}`, {
      DeploymentID: ID,
      ...(isWell ? { HealthyAllocationIDs: [one.ID] } : { UnhealthyAllocationIDs: [one.ID] }),
    });
  }

  async #onAllocation(act: (id: string) => Promise<unknown>): Promise<void> {
    const name = this.#oneOf([...this.#jobs.keys()]);
    if (name === undefined) return;
    const { status, json } = await this.#client.call('GET', `/v1/job/${name}/allocations`);
    const one = status === 200 ? this.#oneOf(json as readonly { ID: string }[]) : undefined;
    if (one !== undefined) await act(one.ID);
  }

  #stopAllocation(id: string): Promise<unknown> {
    const query = this.#random.below(2) === 0 ? '?reschedule=true' : '';
    return this.#client.call('PUT', `/v1/allocation/${id}/stop${query}`);
  }

  #restartAllocation(id: string): Promise<unknown> {
    const body = this.#random.below(2) === 0 ? {} : { TaskName: 'task' };
    return this.#client.call('PUT', `/v1/client/allocation/${id}/restart`, body);
  }

  #configure(): Promise<unknown> {
    const flag = () => this.#random.below(2) === 0;
    return this.#client.must('PUT', '/v1/operator/scheduler/configuration', {
      SchedulerAlgorithm: flag() ? 'binpack' : 'spread',
      PreemptionConfig: {
        SystemSchedulerEnabled: flag(),
        SysBatchSchedulerEnabled: flag(),
        BatchSchedulerEnabled: flag(),
        ServiceSchedulerEnabled: flag(),
      },
    });
  }

  /** Deletes the evaluations that have ended. */
  #deleteEvaluations(): Promise<unknown> {
    const Filter = 'Status == "complete" or Status == "canceled"';
    return this.#client.must('DELETE', '/v1/evaluations', { Filter });
  }
}

const keyOf = ({ JobID, JobVersion }: Deployment): string => `${JobID} ${JobVersion}`;
