import { SimulatedWorld, seededRandom } from '../../src/base/ports-simulated.ts';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isClientTerminal } from '../../src/model/allocation/allocation-rules.ts';
import { isTerminalDeployment } from '../../src/model/deployment/deployment.ts';
import type { Log } from '../../src/server/context.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { allocations, deployments } from '../../src/state/tables.ts';
import { introduction, jobBody, nodeBody } from './api.ts';
import { type Started, startOn } from './start-on.ts';

const nodeCount = 3;
const nodeId = (n: number) => `0000000${n}-0000-4000-8000-000000000000`;
const nodeSecret = (n: number) => `0000000${n}-0000-4000-8000-00000000000f`;

/** Shorter than the interval in which a heartbeat is due. */
const heartbeatMs = 8000;

/**
 * A server under random actions of users, nodes and crashes, from one seed. Nodes run nothing and
 * send plausible reports.
 */
export class RandomWorld {
  readonly world: SimulatedWorld;
  readonly #disk = new MemoryDisk();
  readonly #random: ReturnType<typeof seededRandom>;
  readonly #alive: boolean[] = Array.from({ length: nodeCount }, () => true);
  /** Logged errors and unexpected answers. */
  readonly errors: unknown[] = [];
  #server!: Started;

  private constructor(seed: number) {
    this.world = new SimulatedWorld(seed);
    this.#random = seededRandom(seed);
  }

  static async start(seed: number): Promise<RandomWorld> {
    const random = new RandomWorld(seed);
    await random.#start();
    for (let n = 0; n < nodeCount; n++) await random.#registerNode(n);
    return random;
  }

  get state(): Started['state'] {
    return this.#server.state;
  }

  stop(): void {
    this.#server.server.stop();
  }

  /** Performs one action; sometimes the next follows before the server has reacted. */
  async step(restarts: boolean): Promise<void> {
    const what = this.#random.below(16);
    const job = 'abcd'[this.#random.below(4)]!;
    const node = this.#random.below(nodeCount);
    if (what < 4) await this.#submitJob(job);
    else if (what === 4) await this.#callApi('DELETE', `/v1/job/${job}`);
    else if (what === 5) await this.#callApi('DELETE', `/v1/job/${job}?purge=true`);
    else if (what < 10) await this.#report(node, (one) => this.#fate(one));
    else if (what === 10) await this.#cutNode(node);
    else if (what === 11) await this.pass(this.#random.below(60_000));
    else if (what === 12) await this.#moveTime();
    else if (what < 15) await this.#steer(job);
    else if (restarts) await this.#crash();
    if (this.#random.below(3) > 0) await this.settle();
  }

  settle(): Promise<void> {
    return this.world.advance(0);
  }

  /** Lets time pass with heartbeats of live nodes. */
  async pass(durationMs: number): Promise<void> {
    for (let left = durationMs; left > 0; left -= heartbeatMs) {
      await this.world.advance(Math.min(left, heartbeatMs));
      for (let n = 0; n < nodeCount; n++) await this.#beat(n);
    }
  }

  /**
   * Nodes carry out their assignments until nothing is left to do. Nodes that are away are given up, and no
   * deployment is held back any more.
   */
  async comeToRest(): Promise<void> {
    await this.pass(120_000);
    for (let round = 0; round < 30; round++) {
      for (let n = 0; n < nodeCount; n++) await this.#report(n, obedient, () => true);
      for (const { ID } of this.#activeDeployments()) {
        await this.#callApi('PUT', `/v1/deployment/pause/${ID}`, { Pause: false });
        await this.#callApi('PUT', `/v1/deployment/promote/${ID}`, { All: true });
      }
      await this.pass(heartbeatMs);
    }
  }

  #activeDeployments() {
    const all = [...this.state.read().table(deployments).scan()];
    return all.filter((one) => !isTerminalDeployment(one));
  }

  async #start(): Promise<void> {
    const error = (fields: object, sentence: string) => {
      this.errors.push([sentence, String((fields as { error?: Error }).error?.stack)]);
    };
    const log: Log = { debug() {}, info() {}, warn() {}, error };
    this.#server = await startOn(this.world, this.#disk, { log });
  }

  async #callApi(method: string, url: string, body?: unknown, token?: string) {
    return this.#server.call(method, url, body, token);
  }

  async #expected(method: string, url: string, body?: unknown): Promise<void> {
    const answer = await this.#callApi(method, url, body);
    if (answer.status !== 200) this.errors.push(answer);
  }

  async #registerNode(n: number): Promise<void> {
    const { NodeResources } = nodeBody().Node;
    const Cpu = { CpuShares: 1000 + 500 * n, TotalCpuCores: 2 };
    const Node = { ID: nodeId(n), Name: `n${n}`, NodeResources: { ...NodeResources, Cpu } };
    const body = { ...nodeBody(Node), SecretID: nodeSecret(n) };
    await this.#callApi('PUT', '/v1/node/register', body, introduction);
  }

  async #beat(n: number): Promise<void> {
    if (!this.#alive[n]) return;
    const { status } = await this.#callApi('PUT', `/v1/node/${nodeId(n)}/heartbeat`);
    if (status !== 200) await this.#registerNode(n);
  }

  #submitJob(ID: string): Promise<void> {
    const Type = ID < 'c' ? 'service' : 'batch';
    const Meta = { v: String(this.#random.below(3)) };
    const Count = this.#random.below(5);
    const Resources = { CPU: 100 + 200 * this.#random.below(3), MemoryMB: 64 };
    const delay = { Attempts: 0, Unlimited: true, Delay: 10e9, DelayFunction: 'constant' };
    const group = { Count, ReschedulePolicy: delay, ...(Type === 'service' && this.#strategy()) };
    return this.#expected('POST', '/v1/jobs', jobBody({ ID, Type, Meta }, group, { Resources }));
  }

  #strategy() {
    const MaxParallel = this.#random.below(3);
    const Canary = MaxParallel === 0 ? 0 : this.#random.below(2);
    const AutoPromote = Canary > 0 && this.#random.below(2) === 0;
    const AutoRevert = this.#random.below(2) === 0;
    return { Update: { MaxParallel, Canary, AutoPromote, AutoRevert } };
  }

  /** Acts on the job's deployment, accepted or not. */
  async #steer(job: string): Promise<void> {
    const one = this.#activeDeployments().find(({ JobID }) => JobID === job);
    if (one === undefined) return;
    const [word, body] = steering[this.#random.below(steering.length)]!;
    const answer = await this.#callApi('PUT', `/v1/deployment/${word}/${one.ID}`, body);
    if (answer.status !== 200 && answer.status !== 400) this.errors.push(answer);
  }

  /** Reports the node's allocations. A replacement waits for its predecessor. */
  async #report(
    n: number,
    fate: (allocation: Allocation) => Status,
    healthy: () => boolean | null = () => this.#health(),
  ): Promise<void> {
    if (!this.#alive[n]) return;
    const { json } = await this.#callApi('GET', `/v1/node/${nodeId(n)}/assignments`);
    const list = (json as { Allocation: Allocation }[]).map(({ Allocation }) => Allocation);
    const open = new Set(list.filter((one) => !isClientTerminal(one)).map(({ ID }) => ID));
    const Allocations = list
      .filter((one) => one.DesiredStatus !== 'run' || !open.has(one.PreviousAllocation))
      .map((one) => ({ one, ClientStatus: fate(one), Healthy: healthy() }))
      .filter(({ one, ClientStatus }) => one.ClientStatus !== ClientStatus || isAsked(one))
      .map(({ one: { ID, DeploymentID }, ClientStatus, Healthy }) => ({
        ID,
        ClientStatus,
        DeploymentID,
        ...(ClientStatus === 'running' && { DeploymentStatus: { Healthy } }),
      }));
    if (Allocations.length === 0) return;
    await this.#expected('PUT', `/v1/node/${nodeId(n)}/status`, { Allocations });
  }

  #health(): boolean | null {
    const dice = this.#random.below(10);
    return dice === 0 ? false : dice < 4 ? null : true;
  }

  #fate({ DesiredStatus, ClientStatus }: Allocation): Status {
    if (DesiredStatus !== 'run') return this.#random.below(2) === 0 ? ClientStatus : 'complete';
    if (ClientStatus === 'pending') return this.#random.below(4) === 0 ? 'failed' : 'running';
    const dice = this.#random.below(10);
    return dice === 0 ? 'failed' : dice === 1 ? 'complete' : ClientStatus;
  }

  /** Cuts the node off, or lets it come back. */
  async #cutNode(n: number): Promise<void> {
    this.#alive[n] = !this.#alive[n];
    if (this.#alive[n]) await this.#registerNode(n);
  }

  async #moveTime(): Promise<void> {
    const all = [...this.state.read().table(allocations).scan()];
    const one = all[this.#random.below(Math.max(all.length, 1))];
    if (one !== undefined) await this.#expected('PUT', `/v1/allocation/${one.ID}/stop`);
  }

  async #crash(): Promise<void> {
    await this.world.advance(this.#random.below(2));
    this.stop();
    this.#disk.crash('kept');
    await this.#start();
  }
}

type Status = Allocation['ClientStatus'];

const steering = [
  ['pause', { Pause: true }],
  ['pause', { Pause: false }],
  ['promote', { All: true }],
  ['fail', {}],
] as const;

/** The deployment waits for the node's report. */
const isAsked = ({ DeploymentID, DeploymentStatus, ClientStatus, DesiredStatus }: Allocation) =>
  DeploymentID !== '' &&
  (DeploymentStatus?.Healthy ?? null) === null &&
  ClientStatus === 'running' &&
  DesiredStatus === 'run';

const obedient = ({ DesiredStatus, ClientStatus }: Allocation): Status => {
  if (DesiredStatus !== 'run') return 'complete';
  return ClientStatus === 'pending' ? 'running' : ClientStatus;
};
