import { instantFromMs, instantToMs } from '../../../base/instant.ts';
import type { Timer } from '../../../base/ports.ts';
import type { Allocation } from '../../../model/allocation/allocation.ts';
import { holdsResources } from '../../../model/allocation/allocation-rules.ts';
import { type Evaluation, isTerminalEvaluation } from '../../../model/evaluation/evaluation.ts';
import { limits } from '../../../model/limits.ts';
import { isReadyNode, type Node } from '../../../model/node/node.ts';
import { FreeRoom, jobNeedOf } from '../../../scheduler/placing/free-room.ts';
import { versionRun } from '../../../scheduler/placing/preempt.ts';
import type { SchedulerConfiguration } from '../../../scheduler/view.ts';
import {
  allocations,
  evaluations,
  inNamespace,
  jobs,
  nodes,
  schedulerConfiguration,
} from '../../../state/tables.ts';
import type { Change, Transaction } from '../../../state/types.ts';
import type { ServerContext } from '../../context.ts';
import { writeEventually } from '../../write-eventually.ts';
import { clusterView } from '../cluster-view.ts';
import { newEvaluation } from '../create-evaluation.ts';
import { BlockedEvaluations } from './blocked.ts';
import { Broker } from './broker.ts';
import { cancelAll } from './cancel.ts';

/**
 * Follows the committed state and keeps every open evaluation in its place: ready, delayed or
 * blocked. Everything it keeps is derived, so a new leader builds it again from a snapshot.
 */
export class EvaluationDispatcher {
  readonly broker: Broker<Evaluation>;
  readonly blocked: BlockedEvaluations;
  readonly #context: ServerContext;
  readonly #configuration: () => SchedulerConfiguration;
  readonly #delayed = new Map<string, Timer>();
  readonly #stopping = new AbortController();
  #unsubscribe: (() => void) | undefined;

  constructor(context: ServerContext, configuration: () => SchedulerConfiguration) {
    this.#context = context;
    this.#configuration = configuration;
    const { timers } = context.world;
    this.broker = new Broker({
      timers,
      limits: {
        deliveriesMax: limits.evaluation.deliveryMax,
        firstNackMs: limits.evaluation.nackFirstDelayMs,
        nackStepMs: limits.evaluation.nackDelayMs,
      },
      giveUp: (evaluation, superfluous) => this.#giveUp(evaluation, superfluous),
    });
    this.blocked = new BlockedEvaluations({
      release: (evaluation) => this.broker.enqueue(evaluation),
      supersede: (evaluation) => this.cancel([evaluation], 'a newer evaluation waits in its place'),
      jobNeedOf: ({ Namespace, JobID }) => {
        const key = inNamespace(Namespace, JobID);
        return jobNeedOf(context.state.peek((now) => now.table(jobs).get(...key)));
      },
      preemption: () => this.#configuration().preemption,
      freeRoomOf: (nodeId) => this.#freeRoomOf(nodeId),
      soon: (run) => timers.soon(run),
    });
  }

  /** The number of open evaluations. */
  get size(): number {
    return this.broker.size + this.blocked.size + this.#delayed.size;
  }

  /**
   * Takes up the open evaluations of the state, then follows commits. Blocked evaluations are tried
   * once: nobody knows which room came after they were last tried.
   */
  start(): void {
    const { state } = this.#context;
    this.#unsubscribe = state.onCommit((changes, index) => this.#followCommit(changes, index));
    for (const evaluation of state.read().table(evaluations).by('open').scan()) {
      if (evaluation.Status === 'blocked') this.broker.enqueue(evaluation);
      else this.#takeEvaluation(evaluation);
    }
  }

  /** A released evaluation has been decided, whatever came of it. */
  decided({ ID }: Evaluation): void {
    this.blocked.decided(ID);
  }

  /** The evaluation goes on waiting as stored, but has seen the state up to this index. */
  waitsOn({ Namespace, ID }: Evaluation, SnapshotIndex: number): void {
    const { state } = this.#context;
    const stored = state
      .read()
      .table(evaluations)
      .get(...inNamespace(Namespace, ID));
    if (stored?.Status === 'blocked') this.#takeEvaluation({ ...stored, SnapshotIndex });
  }

  /** Cancels evaluations that another one made superfluous. */
  cancel(superfluous: readonly Evaluation[], description: string): void {
    if (superfluous.length === 0) return;
    this.#write((transaction) => cancelAll(transaction, this.#context, superfluous, description));
  }

  stop(): void {
    this.#stopping.abort();
    this.#unsubscribe?.();
    for (const timer of this.#delayed.values()) timer.clear();
    this.#delayed.clear();
    this.broker.clear();
    this.blocked.clear();
  }

  #followCommit(changes: readonly Change[], index: number): void {
    this.cancel(this.broker.end(endedBy(changes)), superseded);
    for (const { table, before, after } of changes) {
      if (table === evaluations.name) this.#followEvaluation(before, after);
      else if (table === allocations.name) this.#followAllocation(before, after, index);
      else if (table === nodes.name) this.#followNode(before, after, index);
      else if (table === schedulerConfiguration.name) this.#followConfiguration(index);
    }
  }

  #followEvaluation(before: Change['before'], after: Change['after']): void {
    const evaluation = (after ?? before) as Evaluation;
    if (after !== undefined && !isTerminalEvaluation(evaluation)) {
      this.#takeEvaluation(evaluation);
      return;
    }
    this.blocked.remove(evaluation);
    this.#delayed.get(evaluation.ID)?.clear();
    this.#delayed.delete(evaluation.ID);
  }

  #takeEvaluation(evaluation: Evaluation): void {
    if (evaluation.Status === 'pending') {
      this.#queueAt(evaluation, instantToMs(evaluation.WaitUntil));
      return;
    }
    this.blocked.add(evaluation);
    if (evaluation.TriggeredBy !== 'max-plan-attempts') return;
    // No event tells when plans stop colliding, so the evaluation is tried again after a while.
    this.#queueAt(
      evaluation,
      this.#context.world.clock.nowMs() + limits.evaluation.conflictRetryMs,
    );
  }

  #queueAt(evaluation: Evaluation, dueMs: number): void {
    const { clock, timers } = this.#context.world;
    const waitMs = dueMs - clock.nowMs();
    if (waitMs <= 0) {
      this.broker.enqueue(evaluation);
      return;
    }
    if (this.#delayed.has(evaluation.ID)) return;
    const timer = timers.after(waitMs, () => {
      this.#delayed.delete(evaluation.ID);
      this.blocked.remove(evaluation);
      this.broker.enqueue(evaluation);
    });
    this.#delayed.set(evaluation.ID, timer);
  }

  /** An allocation that has ended, or may be evicted from now on, makes room. */
  #followAllocation(before: Change['before'], after: Change['after'], index: number): void {
    const was = before as Allocation | undefined;
    const is = after as Allocation | undefined;
    if (was === undefined || !holdsResources(was)) return;
    if (is !== undefined && holdsResources(is) && !this.#isLessImportant(was, is)) return;
    const node = this.#context.state.read().table(nodes).get(was.NodeID);
    if (node !== undefined) this.#madeRoom(node, index);
  }

  /** With a lower priority it may be evicted by other jobs. */
  #isLessImportant(was: Allocation, is: Allocation): boolean {
    if (was.JobVersion === is.JobVersion || this.blocked.size === 0) return false;
    const view = clusterView(this.#context.state.read(), this.#configuration());
    return (versionRun(view, is)?.Priority ?? 0) < (versionRun(view, was)?.Priority ?? 0);
  }

  /** The setting of preemption may have changed, so every node may have room. */
  #followConfiguration(index: number): void {
    if (this.blocked.size === 0) return;
    for (const node of this.#context.state.read().table(nodes).scan()) {
      if (isReadyNode(node)) this.#madeRoom(node, index);
    }
  }

  #madeRoom({ ID: nodeId, ComputedClass: nodeClass }: Node, index: number): void {
    this.blocked.madeRoom({ nodeId, nodeClass }, index);
  }

  #freeRoomOf(nodeId: string): FreeRoom | undefined {
    const view = clusterView(this.#context.state.head(), this.#configuration());
    const node = view.node(nodeId);
    return node === undefined || !isReadyNode(node) ? undefined : new FreeRoom(view, node);
  }

  #followNode(before: Change['before'], after: Change['after'], index: number): void {
    const is = after as Node | undefined;
    const was = before as Node | undefined;
    if (is === undefined && was !== undefined) this.blocked.forget(was.ID);
    if (is === undefined || !isReadyNode(is)) return;
    const same =
      was !== undefined &&
      isReadyNode(was) &&
      was.ComputedClass === is.ComputedClass &&
      was.HostVolumes === is.HostVolumes &&
      was.NodeResources === is.NodeResources;
    if (!same) this.#madeRoom(is, index);
  }

  /**
   * Marks the evaluation as failed and adds a follow-up for much later.
   * Source: docs/behaviour/evaluations.md#the-order-of-evaluations.
   */
  #giveUp(evaluation: Evaluation, superfluous: readonly Evaluation[]): void {
    const { world } = this.#context;
    const { failedFollowUpDelayMs, failedFollowUpJitterMs } = limits.evaluation;
    const delayMs = failedFollowUpDelayMs + world.random.below(failedFollowUpJitterMs);
    this.#write((transaction) => {
      const table = transaction.table(evaluations);
      cancelAll(transaction, this.#context, superfluous, superseded);
      const stored = table.get(...inNamespace(evaluation.Namespace, evaluation.ID));
      if (stored === undefined || isTerminalEvaluation(stored)) return;
      const nowMs = world.clock.nowMs();
      const job = { ...stored, ID: stored.JobID };
      const followUp = table.put({
        ...newEvaluation(world, { job, triggeredBy: 'failed-follow-up' }),
        PreviousEval: stored.ID,
        Wait: delayMs * 1e6,
        WaitUntil: instantFromMs(nowMs + delayMs),
      });
      table.put({
        ...stored,
        Status: 'failed',
        StatusDescription: `maximum attempts reached (${limits.evaluation.deliveryMax})`,
        NextEval: followUp.ID,
        ModifyTime: instantFromMs(nowMs),
      });
    });
  }

  #write(run: (transaction: Transaction) => void): void {
    const { state, world, log } = this.#context;
    const { signal } = this.#stopping;
    writeEventually({ state, timers: world.timers }, run, signal).catch((error: unknown) => {
      log.warn({ error }, 'evaluations could not be updated');
    });
  }
}

const superseded = 'a newer evaluation takes its place';

/** Evaluations that were decided, canceled or deleted. */
function endedBy(changes: readonly Change[]): readonly Evaluation[] {
  const ended: Evaluation[] = [];
  for (const { table, before, after } of changes) {
    if (table !== evaluations.name) continue;
    const evaluation = (after ?? before) as Evaluation;
    if (after === undefined || isTerminalEvaluation(evaluation)) ended.push(evaluation);
  }
  return ended;
}
