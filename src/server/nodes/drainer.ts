import { formatInstant, instantFromMs } from '../../base/instant.ts';
import type { Timer } from '../../base/ports.ts';
import { pause, visitSlice } from '../../base/slices.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import { isForced } from '../../model/node/drain.ts';
import type { Node } from '../../model/node/node.ts';
import { allocations, inNamespace, jobs, nodes } from '../../state/tables.ts';
import type { Change, Snapshot, Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { createEvaluation } from '../scheduling/create-evaluation.ts';
import { writeEventually } from '../write-eventually.ts';
import { Budgets, decideDrain } from './drain-decide.ts';
import { evaluateNode } from './evaluate.ts';
import { changeNode } from './status.ts';

type World = ServerContext['world'];

/**
 * Empties draining nodes: marks allocations, which the scheduler then moves, and completes the
 * drain of an empty node.
 *
 * Invariants
 *  D1. It keeps nothing that the state does not tell: a new leader goes on where the last one was.
 *  D2. It decides within the transaction that writes the decision.
 *  D3. Changes close together are looked at together, once in `limits.node.drainPassMs`, and a pass
 *      gives way to others after `limits.node.drainSliceMs`.
 */
export class Drainer {
  readonly #context: ServerContext;
  readonly #stopping = new AbortController();
  readonly #draining = new Set<string>();
  /** Jobs with allocations on draining nodes. Their allocations on other nodes matter as well. */
  #concerned = new Set<string>();
  #unsubscribe: (() => void) | undefined;
  #next: { readonly timer: Timer; readonly atMs: number } | undefined;
  #isLooking = false;
  #isNews = false;
  #notBeforeMs = 0;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  start(): void {
    const { state } = this.#context;
    this.#unsubscribe = state.onCommit((changes) => this.#followCommit(changes));
    for (const node of state.read().table(nodes).scan()) {
      if (node.Drain) this.#draining.add(node.ID);
    }
    if (this.#draining.size > 0) this.#wake();
  }

  stop(): void {
    this.#stopping.abort();
    this.#unsubscribe?.();
    this.#next?.timer.clear();
  }

  #followCommit(changes: readonly Change[]): void {
    for (const { table, before, after } of changes) {
      if (table === nodes.name) this.#followNode((after ?? before) as Node, after !== undefined);
      else if (table === allocations.name && this.#draining.size > 0) {
        this.#followAllocation((after ?? before) as Allocation);
      }
    }
  }

  #followNode({ ID, Drain }: Node, isThere: boolean): void {
    if (!isThere || !Drain) {
      this.#draining.delete(ID);
      return;
    }
    this.#draining.add(ID);
    this.#wake();
  }

  #followAllocation({ NodeID, Namespace, JobID }: Allocation): void {
    if (this.#draining.has(NodeID) || this.#concerned.has(keyOf(Namespace, JobID))) this.#wake();
  }

  #wake(): void {
    this.#isNews = true;
    if (!this.#isLooking) this.#lookAt(this.#notBeforeMs);
  }

  /** Sets the next pass to this time of the monotonic clock, unless an earlier pass is set. */
  #lookAt(timeMs: number): void {
    const nowMs = this.#context.world.clock.monotonicMs();
    const atMs = Math.max(timeMs, nowMs);
    if (this.#next !== undefined && this.#next.atMs <= atMs) return;
    this.#next?.timer.clear();
    const timer = this.#context.world.timers.after(atMs - nowMs, () => void this.#lookAtNodes());
    this.#next = { timer, atMs };
  }

  async #lookAtNodes(): Promise<void> {
    const { world, log, state } = this.#context;
    this.#next = undefined;
    this.#isLooking = true;
    this.#isNews = false;
    this.#notBeforeMs = world.clock.monotonicMs() + limits.node.drainPassMs;
    let dueMs: number = limits.node.drainRecheckMs;
    try {
      dueMs = Math.min(dueMs, await this.#runPass());
    } catch (error) {
      if (this.#stopping.signal.aborted || state.closed !== undefined) return;
      log.error({ error }, 'draining nodes could not be looked at');
    } finally {
      this.#isLooking = false;
    }
    if (this.#stopping.signal.aborted || this.#draining.size === 0) return;
    this.#lookAt(world.clock.monotonicMs() + dueMs);
    if (this.#isNews) this.#wake();
  }

  /** Looks at every draining node once. Resolves with the time to the next deadline. */
  async #runPass(): Promise<number> {
    const { state, world } = this.#context;
    const concerned = new Set<string>();
    let dueMs = Number.POSITIVE_INFINITY;
    let left: readonly string[] = [...this.#draining];
    while (left.length > 0) {
      const slice = await writeEventually(
        { state, timers: world.timers },
        (transaction) => drainSlice(transaction, world, left, concerned),
        this.#stopping.signal,
      );
      dueMs = Math.min(dueMs, slice.dueMs);
      left = slice.left;
      if (left.length > 0) await pause(world.timers);
    }
    this.#concerned = concerned;
    return dueMs;
  }
}

interface Slice {
  /** The nodes that were not looked at. */
  readonly left: readonly string[];
  /** The time to the next deadline of the nodes that were looked at. */
  readonly dueMs: number;
}

/** Looks at the nodes, marks the allocations that may go now, and makes the evaluations that move them. */
export function drainSlice(
  transaction: Transaction,
  world: World,
  nodeIds: readonly string[],
  concerned: Set<string>,
): Slice {
  const nowMs = world.clock.nowMs();
  const jobOf = jobsIn(transaction);
  const budgets = new Budgets({
    jobOf,
    allocationsOf: ({ Namespace, ID }) =>
      transaction
        .table(allocations)
        .by('job')
        .scan({ prefix: inNamespace(Namespace, ID) }),
    isDraining: (nodeId) => transaction.table(nodes).get(nodeId)?.Drain === true,
    isTimeUp: (nodeId) => {
      const strategy = transaction.table(nodes).get(nodeId)?.DrainStrategy ?? null;
      return strategy !== null && isForced(strategy, nowMs);
    },
  });
  const moved = new Map<string, { readonly job: Job; readonly node: Node }>();
  let dueMs = Number.POSITIVE_INFINITY;
  const drain = (nodeId: string) => {
    const node = transaction.table(nodes).get(nodeId);
    const strategy = node?.DrainStrategy ?? null;
    if (node === undefined || strategy === null) return false;
    const range = { prefix: [node.ID] };
    const occupants = [...transaction.table(allocations).by('occupant').scan(range)];
    const decision = decideDrain({ strategy, occupants, jobOf, budgets, nowMs });
    if (decision.isEmpty) complete(transaction, world, node);
    for (const allocation of decision.migrate) {
      mark(transaction, allocation, nowMs);
      const job = jobOf(allocation);
      if (job !== undefined) moved.set(keyOf(job.Namespace, job.ID), { job, node });
    }
    for (const { Namespace, JobID } of occupants) concerned.add(keyOf(Namespace, JobID));
    const forceMs = Date.parse(strategy.ForceDeadline ?? '');
    if (forceMs > nowMs) dueMs = Math.min(dueMs, forceMs - nowMs);
    return true;
  };
  const bounds = { sliceMs: limits.node.drainSliceMs };
  const done = visitSlice(nodeIds, drain, world.clock, bounds);
  for (const { job, node } of moved.values()) {
    createEvaluation(transaction, world, { job, triggeredBy: 'node-drain', node });
  }
  return { left: nodeIds.slice(done), dueMs };
}

const keyOf = (namespace: string, jobId: string): string => `${namespace}\0${jobId}`;

const jobsIn =
  (snapshot: Snapshot) =>
  ({ Namespace, JobID }: Allocation): Job | undefined =>
    snapshot.table(jobs).get(...inNamespace(Namespace, JobID));

/** From here on the scheduler moves the allocation. The node itself has nothing to do yet. */
function mark(transaction: Transaction, allocation: Allocation, nowMs: number): void {
  const DesiredTransition = { ...allocation.DesiredTransition, Migrate: true };
  const ModifyTime = instantFromMs(nowMs);
  transaction.table(allocations).put({ ...allocation, DesiredTransition, ModifyTime });
}

function complete(transaction: Transaction, world: World, node: Node): void {
  const nowMs = world.clock.nowMs();
  const isBack = node.DrainStrategy?.MarkEligible === true;
  const LastDrain = node.LastDrain && {
    ...node.LastDrain,
    UpdatedAt: formatInstant(nowMs),
    Status: 'complete' as const,
  };
  const fields = {
    Drain: false,
    DrainStrategy: null,
    LastDrain,
    SchedulingEligibility: isBack ? 'eligible' : 'ineligible',
  } as const;
  const message = 'Node drain complete';
  changeNode(transaction, nowMs, node, { fields, message, subsystem: 'Drain' });
  if (isBack) evaluateNode(transaction, world, node.ID);
}
