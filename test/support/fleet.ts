import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { introduction, nodeBody } from './api.ts';

type Call = (
  method: string,
  url: string,
  options?: { body?: unknown; token?: string | null },
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
) => Promise<{ readonly status: number; readonly json: any }>;

export interface FleetApi {
  readonly call: Call;
  readonly world: { advance(durationMs: number): Promise<void> };
}

export const idOf = (n: number): string => `0000000${n}-0000-4000-8000-000000000000`;
export const secretOf = (n: number): string => `0000000${n}-0000-4000-8000-00000000000f`;

/** The status that a node reports of an allocation that is to run; `undefined`: none. */
export type Fate = (allocation: Allocation) => 'running' | 'complete' | 'failed' | undefined;

/**
 * Nodes without tasks. They register, send heartbeats, and report allocations as started and
 * stopped as requested.
 */
export class Fleet {
  readonly #api: FleetApi;
  readonly #away = new Set<number>();
  #size = 0;

  constructor(api: FleetApi) {
    this.#api = api;
  }

  /** Adds nodes named `n1` and so on. `changes` apply to their registrations. */
  async join(count: number, changes: object = {}): Promise<void> {
    for (let n = this.#size + 1; n <= this.#size + count; n++) await this.register(n, changes);
    this.#size += count;
  }

  async register(n: number, changes: object = {}) {
    const body = nodeBody({ ID: idOf(n), Name: `n${n}`, ...changes });
    const token = introduction;
    return this.#api.call('PUT', '/v1/node/register', {
      body: { ...body, SecretID: secretOf(n) },
      token,
    });
  }

  /** Disconnects or reconnects the node. */
  cut(n: number): void {
    this.#away.add(n);
  }

  async restore(n: number): Promise<void> {
    this.#away.delete(n);
    await this.register(n);
  }

  /** Lets time pass with heartbeats and reports. */
  async pass(durationMs: number, fate?: Fate): Promise<void> {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= stepMs) {
      await this.#api.world.advance(Math.min(leftMs, stepMs));
      await this.beat();
      await this.obey(fate);
    }
  }

  async beat(): Promise<void> {
    for (const n of this.#present()) {
      const { status } = await this.#callAsNode(n, 'PUT', 'heartbeat');
      if (status !== 200) await this.register(n);
    }
  }

  /** Each node reports its assignments as done, once, and running ones as healthy. */
  async obey(fate: Fate = () => 'running'): Promise<void> {
    for (const n of this.#present()) {
      const { json } = await this.#callAsNode(n, 'GET', 'assignments');
      const list = json as { readonly Allocation: Allocation }[];
      const Allocations = list.flatMap(({ Allocation }) => reportOf(Allocation, fate));
      if (Allocations.length > 0) await this.#callAsNode(n, 'PUT', 'status', { Allocations });
    }
    await this.#api.world.advance(0);
  }

  #present(): number[] {
    const all = Array.from({ length: this.#size }, (_, index) => index + 1);
    return all.filter((n) => !this.#away.has(n));
  }

  #callAsNode(n: number, method: string, what: string, body?: object) {
    const url = `/v1/node/${idOf(n)}/${what}`;
    return this.#api.call(method, url, { token: secretOf(n), ...(body && { body }) });
  }
}

const stepMs = 1000;

function reportOf(allocation: Allocation, fate: Fate): object[] {
  const { ID, DesiredStatus, ClientStatus: was, DeploymentStatus } = allocation;
  const ClientStatus = DesiredStatus === 'run' ? fate(allocation) : 'complete';
  const isHealthy = ClientStatus === 'running';
  const tells = isHealthy && DeploymentStatus?.Healthy !== true;
  if (ClientStatus === undefined || (ClientStatus === was && !tells)) return [];
  return [{ ID, ClientStatus, ...(tells && { DeploymentStatus: { Healthy: true } }) }];
}
