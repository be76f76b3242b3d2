import type { AllocationReport } from '../model/allocation/allocation.ts';
import { isClientTerminal } from '../model/allocation/allocation-rules.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import { socketPair } from '../model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../model/node-stream/stream-connection.ts';
import type { ServicesReport } from '../model/service-registration/service-registration.ts';
import type { RestoredForNode } from '../model/snapshot/restore-record.ts';
import type { AllocationTrace } from '../model/tracing/task-traces.ts';
import type { IdentityAnswer, IdentityRequest } from '../model/workload/identity-request.ts';
import type { Assignment, AssignmentsAnswer, ServerApi } from './server-api.ts';

class CallFailure extends Error {
  readonly status: number;
  readonly code: string | undefined;
  constructor(status: number, code?: string) {
    super(`answered ${status}`);
    this.status = status;
    this.code = code;
  }
}

/** Servers in memory that fulfil the interface of `server-api.ts`, and can become unreachable. */
export class FakeServers implements ServerApi {
  /** `false`: every call fails like a lost connection. */
  reachable = true;
  /** The code with which heartbeats are refused, as no server leads. */
  leaderless: string | undefined;
  readonly tokens: string[] = [];
  readonly batches: (readonly AllocationReport[])[] = [];
  readonly reports = new Map<string, AllocationReport>();
  readonly services = new Map<string, ServicesReport['Services']>();
  /** The requests for identities, in order. */
  readonly asked: (readonly IdentityRequest[])[] = [];
  /** The life of issued tokens in nanoseconds; 0: no end. */
  identityTtl = 0;
  /** Names of identities that are refused. */
  refused: readonly string[] = [];
  node: NodeRegistration | undefined;
  connection: StreamConnection | undefined;
  heartbeats = 0;

  /** The node hears of a restore at its next registration. */
  restored: RestoredForNode | undefined;

  #secret = '';
  #index = 1;
  #assignments: readonly Assignment[] = [];
  #wake = new Set<() => void>();

  assign(assignments: readonly Assignment[]): void {
    this.#assignments = assignments;
    this.#index++;
    for (const wake of [...this.#wake]) wake();
  }

  /** Forgets the node, like a server that lost its data. */
  forgetNode(): void {
    this.node = undefined;
  }

  /** Restores a snapshot that knows no allocation. */
  restore(unknownForMs: number): void {
    this.restored = { Index: this.#index + 1, UnknownFor: unknownForMs * 1e6 };
    this.reports.clear();
    this.forgetNode();
    this.assign([]);
  }

  lose(): void {
    this.reachable = false;
    for (const wake of [...this.#wake]) wake();
    this.connection?.close(1001, 'lost');
  }

  statusOf(id: string): string | undefined {
    return this.reports.get(id)?.ClientStatus;
  }

  async register(body: { Node: NodeRegistration; SecretID: string }, token: string) {
    this.#checkToken();
    this.tokens.push(token === body.SecretID ? 'secret' : token);
    this.node = body.Node;
    this.#secret = body.SecretID;
    const { restored: Restored } = this;
    return { HeartbeatTTL: 20e9, Index: this.#index, ...(Restored && { Restored }) };
  }

  async heartbeat(_id: string, token: string) {
    this.#authorize(token);
    this.heartbeats++;
    if (this.leaderless !== undefined) throw new CallFailure(503, this.leaderless);
    return { HeartbeatTTL: 20e9, Index: this.#index };
  }

  async assignments(
    _id: string,
    query: { index: number; restored: number },
    token: string,
    signal: AbortSignal,
  ): Promise<AssignmentsAnswer> {
    this.#authorize(token);
    if (query.index >= this.#index) await this.#noteChange(signal);
    this.#authorize(token);
    if (query.restored < (this.restored?.Index ?? 0)) throw new CallFailure(404);
    const assignments = this.#assignments.filter(({ Allocation }) => {
      const report = this.reports.get(Allocation.ID);
      return report === undefined || !isClientTerminal(report);
    });
    return { index: this.#index, assignments };
  }

  async reportStatus(_id: string, reports: readonly AllocationReport[], token: string) {
    this.#authorize(token);
    this.batches.push(reports);
    for (const report of reports) this.reports.set(report.ID, report);
  }

  async reportServices(_id: string, reports: readonly ServicesReport[], token: string) {
    this.#authorize(token);
    for (const { AllocID, Services } of reports) this.services.set(AllocID, Services);
  }

  async identities(
    _id: string,
    requests: readonly IdentityRequest[],
    token: string,
  ): Promise<IdentityAnswer> {
    this.#authorize(token);
    this.asked.push(requests);
    const isRefused = ({ Name }: IdentityRequest) => this.refused.includes(Name);
    return {
      Identities: requests
        .filter((one) => !isRefused(one))
        .map((one) => ({
          ...one,
          Token: `token ${this.asked.length} of ${one.Task} as ${one.Name}`,
          TTL: this.identityTtl,
          ExpirationTime: 0,
        })),
      Refused: requests.filter(isRefused).map((one) => ({ ...one, Reason: 'no such thing' })),
    };
  }

  async traces(): Promise<readonly AllocationTrace[]> {
    return [];
  }

  /** By the id of the allocation. */
  readonly snapshots = new Map<string, () => AsyncIterable<Uint8Array>>();

  async *snapshot(allocId: string, token: string): AsyncIterable<Uint8Array> {
    this.#authorize(token);
    const given = this.snapshots.get(allocId);
    if (given === undefined) throw new CallFailure(404);
    yield* given();
  }

  async openStream(_id: string, token: string) {
    this.#authorize(token);
    const [server, node] = socketPair();
    this.connection = new StreamConnection({ socket: server, side: 'server' });
    return node;
  }

  #noteChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        this.#wake.delete(wake);
        resolve();
      };
      if (signal.aborted) reject(new Error('aborted'));
      this.#wake.add(wake);
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  }

  #checkToken(): void {
    if (!this.reachable) throw new Error('connection refused');
  }

  #authorize(token: string): void {
    this.#checkToken();
    if (this.node === undefined) throw new CallFailure(404);
    if (token !== this.#secret) throw new CallFailure(403);
  }
}
