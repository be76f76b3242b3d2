import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Deployment } from '../../src/model/deployment/deployment.ts';
import { jobBody, nodeBody, startApi, type TestApi } from './api.ts';

/** The node's way with an allocation that is to run. */
export type Fate =
  /** Runs it and reports it healthy. */
  | 'healthy'
  /** Runs it and reports no health. */
  | 'running'
  /** Runs it and reports it unhealthy. */
  | 'unhealthy'
  | 'failed'
  /** Sends no report. */
  | 'silent';

export type FateOf = (allocation: Allocation) => Fate;

const second = 1000;
/** The server may want heartbeats at this interval. */
const stepMs = 1 * second;

/** A node that follows its assignments and reports as the test decides. */
export class Rollout {
  readonly api: TestApi;
  fate: FateOf = () => 'healthy';
  readonly id: string;

  constructor(api: TestApi, id = 'web') {
    this.api = api;
    this.id = id;
  }

  static async start(options: Parameters<typeof startApi>[0] = {}): Promise<Rollout> {
    const api = await startApi(options);
    const rollout = new Rollout(api);
    await rollout.join();
    return rollout;
  }

  async join(): Promise<void> {
    await this.api.call('PUT', '/v1/node/register', { body: nodeBody() });
  }

  /** Registers version `v` of the job. Another `v` replaces every allocation. */
  async register(v: string, update: object = {}, group: object = {}, changes: object = {}) {
    const { status, json, text } = await this.api.call('POST', '/v1/jobs', {
      body: {
        ...jobBody(
          { ID: this.id, ...changes },
          {
            Count: 3,
            Update: { MaxParallel: 1, ...update },
            ReschedulePolicy: { Attempts: 0, Unlimited: false },
            ...group,
          },
          { Env: { v } },
        ),
        Submission: { Format: 'json', Source: `source ${v}` },
      },
    });
    if (status !== 200) throw new Error(text);
    await this.api.settle();
    return json;
  }

  /**
   * Lets time pass while the node follows its assignments. `watch` sees the allocations after each
   * step.
   */
  async pass(durationMs: number, watch: (all: Allocation[]) => void = () => {}): Promise<void> {
    await this.obey();
    for (let leftMs = durationMs; leftMs > 0; leftMs -= stepMs) {
      await this.api.world.advance(Math.min(leftMs, stepMs));
      await this.obey();
      watch(await this.allocations());
    }
  }

  /** The node carries out its assignments once and reports. */
  async obey(): Promise<void> {
    const { ID } = nodeBody().Node;
    await this.api.call('PUT', `/v1/node/${ID}/heartbeat`);
    const { json } = await this.api.call('GET', `/v1/node/${ID}/assignments`);
    const assigned = json as readonly { readonly Allocation: Allocation }[];
    const Allocations = assigned.flatMap(({ Allocation }) => this.#reportOf(Allocation));
    if (Allocations.length > 0) {
      await this.api.call('PUT', `/v1/node/${ID}/status`, { body: { Allocations } });
    }
    await this.api.settle();
  }

  #reportOf(allocation: Allocation): object[] {
    const { ID, DesiredStatus, DeploymentID } = allocation;
    if (DesiredStatus !== 'run') return [{ ID, ClientStatus: 'complete' }];
    const fate = this.fate(allocation);
    if (fate === 'silent') return [];
    const ClientStatus = fate === 'failed' ? 'failed' : 'running';
    if (fate === 'running') return [{ ID, ClientStatus, DeploymentID }];
    const DeploymentStatus = { Healthy: fate === 'healthy' };
    return [{ ID, ClientStatus, DeploymentID, DeploymentStatus }];
  }

  async get<T>(url: string): Promise<T> {
    const { status, json, text } = await this.api.call('GET', url);
    if (status !== 200) throw new Error(`${url}: ${text}`);
    return json as T;
  }

  allocations = (): Promise<Allocation[]> => this.get(`/v1/job/${this.id}/allocations`);
  deployment = (): Promise<Deployment> => this.get(`/v1/job/${this.id}/deployment`);
  deployments = (): Promise<Deployment[]> => this.get(`/v1/job/${this.id}/deployments`);

  /** The allocations of one version that are to run. */
  async of(version: number): Promise<Allocation[]> {
    const all = await this.allocations();
    return all.filter((one) => one.JobVersion === version && one.DesiredStatus === 'run');
  }

  /** Acts on the latest deployment. */
  async act(word: string, body: object = {}, token?: string) {
    const { ID } = await this.deployment();
    const answer = await this.api.call('PUT', `/v1/deployment/${word}/${ID}`, {
      body,
      ...(token !== undefined && { token }),
    });
    await this.api.settle();
    return answer;
  }

  /** Makes version 0 stable: placed, healthy, deployed. */
  async stable(update: object = {}, group: object = {}): Promise<void> {
    await this.register('0', update, group);
    await this.pass(4 * second);
  }
}
