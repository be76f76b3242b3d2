/**
 * Plans of acts: the effects that an act would have, and the act on condition that it has just these.
 *
 * Invariants
 *  P1. A plan is the act itself, done on a rehearsal (`rehearse.ts`). It writes nothing but itself, and that only if
 *      it is to be kept.
 *  P2. A plan is carried out in one transaction with the note of it, together with the decisions that the act's own
 *      evaluations need. Before, everything is rehearsed again on the newest state with the ids that the plan drew,
 *      and has to have the effects that were shown; and nothing that the rehearsal rests on may have changed when the
 *      transaction runs. Otherwise nothing is done.
 *  P3. Changes that are forecasts are no part of the transaction: the drainer and the scheduler decide them when it is
 *      time.
 */
import { RosterError, refusal } from '../../model/errors.ts';
import type { Act } from '../../model/kept-plan/act.ts';
import { effectDifferences } from '../../model/kept-plan/effect-differences.ts';
import type { KeptPlan, PlanSubject } from '../../model/kept-plan/kept-plan.ts';
import type { CarriedOut, Effects } from '../../model/kept-plan/shown-plan.ts';
import { limits } from '../../model/limits.ts';
import { isSame } from '../../model/same.ts';
import { FormUnfinished } from '../../state/errors.ts';
import {
  allocations,
  configEntries,
  deployments,
  evaluations,
  inNamespace,
  jobs,
  nodes,
} from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';
import type { ActState } from '../context.ts';
import { based, Moved, outdated } from '../jobs/plan/carry-out.ts';
import { isShown, keepPlan, notePlanCarriedOut, notePlanOutdated } from '../jobs/plan/kept.ts';
import { recorded, replayed } from '../jobs/plan/proposal.ts';
import { commitDecision } from '../scheduling/evaluations/commit.ts';
import type { Decisions } from '../scheduling/evaluations/decisions.ts';
import type { EvaluationDispatcher } from '../scheduling/evaluations/dispatcher.ts';
import { SlicedQueue } from '../sliced-queue.ts';
import { effectsOf } from './effects.ts';
import { openAct, openPlan, type PlannedAct } from './kept.ts';
import { type Performed, perform } from './perform.ts';
import {
  decideRehearsed,
  type RehearsedAct,
  type RehearsedDecision,
  type Rehearsing,
  rehearseAct,
  worldWith,
} from './rehearse.ts';

export interface PlansOptions extends Rehearsing {
  readonly dispatcher: EvaluationDispatcher;
  readonly decisions: Decisions;
  readonly datacenter: string;
}

export interface PlanWish {
  readonly act: Act;
  readonly about: PlanSubject;
  /** Whether to keep the plan, so that it can be carried out. */
  readonly keep: boolean;
  readonly caller: string;
  /** The accessor of the caller's token; `''`: there is none. */
  readonly accessor: string;
}

export interface MadePlan {
  readonly index: number;
  /** `''`: it is not kept. */
  readonly id: string;
  readonly effects: Effects;
}

export interface Applier {
  readonly caller: string;
  readonly accessor: string;
  /** Whether the caller may read jobs of a namespace. */
  readonly mayRead: (namespace: string) => boolean;
}

/** A rehearsal with its decisions and effects. */
interface Rehearsed {
  readonly rehearsed: RehearsedAct;
  readonly decisions: readonly RehearsedDecision[];
  readonly effects: Effects;
}

export class Plans {
  readonly #options: PlansOptions;
  readonly #queue: SlicedQueue;

  constructor(options: PlansOptions) {
    this.#options = options;
    this.#queue = new SlicedQueue(options.context.world, {
      sizeMax: limits.plan.waitingMax,
      full: (limit) => refusal('too-many-plans', { limit }),
    });
  }

  /**
   * Source: docs/contract/plans.md#make-a-plan.
   * @throws RosterError as the act, and `too-many-plans`
   */
  async make({ act, about, keep, caller, accessor }: PlanWish): Promise<MadePlan> {
    const { state, world, box } = this.#options.context;
    const drawn = recorded(world.ids);
    const { effects } = await this.#rehearse(act, accessor, drawn);
    const planned: PlannedAct = { act, effects, ids: drawn.drawn };
    const text = JSON.stringify(planned);
    const refused = state.isFull ? 'the store is full' : tooLarge(effects, text);
    const unkept = (why: string): MadePlan => {
      const warning = `the plan is not kept, and cannot be carried out by its id: ${why}`;
      const Warnings = [...effects.Warnings, warning];
      return { index: effects.Index, id: '', effects: { ...effects, Warnings } };
    };
    if (!keep) return { index: effects.Index, id: '', effects };
    if (refused !== undefined) return unkept(refused);
    const ID = world.ids.uuid();
    try {
      const { index } = await state.write((transaction) => {
        const row = { ID, ...about, MadeBy: caller, Sealed: box.seal(text), Packed: false };
        keepPlan(transaction, row, world.clock.nowMs());
      });
      return { index, id: ID, effects };
    } catch (error) {
      if (error instanceof FormUnfinished) return unkept('a server of an older version runs');
      throw error;
    }
  }

  /**
   * Source: docs/contract/plans.md#carry-a-plan-out.
   * @throws RosterError `plan-gone`, `plan-carried-out`, and `plan-outdated` with what has moved
   */
  async apply(kept: KeptPlan, applier: Applier): Promise<CarriedOut> {
    const { context, decisions } = this.#options;
    const planned = openAct(context.box, kept);
    const { act, ids } = planned;
    let reason = '';
    for (let attempt = 1; attempt <= limits.plan.attemptsMax; attempt++) {
      const again = await this.#rehearseAgain(planned, kept, applier);
      try {
        const world = worldWith(context.world, replayed(ids, context.world.ids));
        const state = this.#carrying(again, kept, applier.caller);
        const performed = await perform({ ...context, world, state }, act, applier.accessor);
        const exact = again.decisions.filter(isExact);
        for (const one of exact) decisions.note({ ...one, attempt: 1 }, one.result.plan);
        return carriedOut(kept, performed, exact);
      } catch (error) {
        if (!(error instanceof Moved)) throw error;
        reason = error.message;
      }
    }
    throw outdated([reason]);
  }

  async #rehearse(
    act: Act,
    accessor: string,
    ids: ReturnType<typeof replayed>,
  ): Promise<Rehearsed> {
    const rehearsed = await rehearseAct(this.#options, act, accessor, ids);
    const { datacenter } = this.#options;
    const options = this.#options;
    return this.#queue.finish(function* (elapsedNs) {
      const decisions = yield* decideRehearsed(options, rehearsed, elapsedNs);
      yield;
      const effects = yield* effectsOf({ rehearsed, decisions, datacenter });
      return { rehearsed, decisions, effects };
    });
  }

  /** @throws RosterError `plan-outdated` */
  async #rehearseAgain(
    { act, ids, effects }: PlannedAct,
    kept: KeptPlan,
    applier: Applier,
  ): Promise<Rehearsed> {
    const told = async (sentences: readonly string[]) => {
      await notePlanOutdated(this.#options.context, kept);
      return outdated(isShown(kept, applier) ? sentences : [hidden]);
    };
    try {
      const drawn = replayed(ids, this.#options.context.world.ids);
      const again = await this.#rehearse(act, applier.accessor, drawn);
      const differences = effectDifferences(effects, again.effects);
      if (differences.length > 0) throw await told(differences);
      return again;
    } catch (error) {
      if (!(error instanceof RosterError) || error.code === 'plan-outdated') throw error;
      if (!isOfAct(error)) throw error;
      throw await told([`it would be refused now: ${withoutStop(error.message)}`]);
    }
  }

  /** The state whose next transaction carries the plan out, together with the act. */
  #carrying({ rehearsed, decisions }: Rehearsed, { ID }: KeptPlan, caller: string): ActState {
    const { state, world } = this.#options.context;
    const { act, rehearsal } = rehearsed;
    return {
      isFull: state.isFull,
      read: () => state.read(),
      head: () => state.head(),
      peek: (look) => state.peek(look),
      write: (run) =>
        state.write((transaction) => {
          const kept = openPlan(transaction, ID, world.clock.nowMs());
          if (!isSame(premisesOf(transaction, act), premisesOf(rehearsal.before, act))) {
            throw new Moved('the state that the plan rests on changes just now');
          }
          const value = run(transaction);
          for (const decision of decisions) {
            if (isExact(decision)) this.#commit(transaction, decision);
          }
          notePlanCarriedOut(transaction, kept, caller);
          return value;
        }),
    };
  }

  /** Commits a decision of the rehearsal about an evaluation that the act has just made. */
  #commit(transaction: Transaction, { evaluation, view, result }: RehearsedDecision): void {
    const { context, dispatcher } = this.#options;
    const { Namespace, JobID, ID } = evaluation;
    const open = transaction.table(evaluations).get(...inNamespace(Namespace, ID));
    const stored = transaction.table(jobs).get(...inNamespace(Namespace, JobID));
    const proposed = view.job(Namespace, JobID);
    // A decision under way about an older version will be refused as stale, but one about this version would be
    // applied.
    const isSameVersion = stored?.ModifyIndex !== transaction.index;
    if (open === undefined || (isSameVersion && dispatcher.broker.isBusyWith(evaluation))) {
      throw new Moved('the scheduler is deciding about the job just now');
    }
    const moved =
      stored === undefined || proposed === undefined ? result : based(result, proposed, stored);
    const plan = { ...moved.plan, allAtOnce: true, snapshotIndex: transaction.index - 1 };
    const refusals = commitDecision(transaction, context, open, { ...moved, plan });
    if (refusals !== 'unchanged' && refusals.length > 0) throw new Moved(refusals[0]!.reason);
  }
}

const hidden =
  'the effects would be other ones; only its maker, and callers that may read the job, are told what has moved';

const isExact = ({ wave }: RehearsedDecision): boolean => wave === 0;

/** Refusals that tell of the act and the state, and not of the load of the servers. */
const isOfAct = ({ status }: RosterError): boolean => status < 429;

const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');

function tooLarge({ Changes }: Effects, text: string): string | undefined {
  const { exactChangesMax, contentBytesMax } = limits.plan;
  if (Changes.length > exactChangesMax) {
    return `it has ${Changes.length} changes, and ${exactChangesMax} is the limit`;
  }
  return text.length > contentBytesMax
    ? `it has ${text.length} bytes, and ${contentBytesMax} is the limit`
    : undefined;
}

const carriedOut = (
  { ID, Kind }: KeptPlan,
  { Index, Warnings }: Performed,
  exact: readonly RehearsedDecision[],
): CarriedOut => ({
  ID,
  Kind,
  EvalIDs: exact.map(({ evaluation }) => evaluation.ID),
  Warnings,
  Index,
});

/** Indexes that change when a record changes that the effects of the act rest on. */
function premisesOf(snapshot: Snapshot, act: Act): readonly number[] {
  switch (act.Kind) {
    case 'scale':
    case 'revert': {
      const prefix = inNamespace(act.Namespace, act.JobID);
      return [
        snapshot.table(jobs).get(...prefix)?.ModifyIndex ?? 0,
        snapshot.table(allocations).by('job').lastIndex({ prefix }),
        snapshot.table(deployments).by('job').lastIndex({ prefix }),
      ];
    }
    case 'drain':
    case 'eligibility':
      return [
        snapshot.table(nodes).get(act.NodeID)?.ModifyIndex ?? 0,
        snapshot
          .table(allocations)
          .by('occupant')
          .lastIndex({ prefix: [act.NodeID] }),
      ];
    case 'configuration-entry':
      return [snapshot.table(configEntries).lastIndex()];
  }
}
