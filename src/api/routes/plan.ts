import {
  actPermissionIn,
  planEndpoints as contract,
  plansAgain,
  seesPlan,
} from '../../contract/plan.ts';
import { refusal } from '../../model/errors.ts';
import { accessorOf as callerOf } from '../../model/kept-answer/kept-answer.ts';
import {
  type KeptPlan,
  ofRegistration,
  type PlanSubject,
} from '../../model/kept-plan/kept-plan.ts';
import {
  type CarriedOut,
  type Effects,
  noEffects,
  type PlanStub,
  planStub,
  type ShownPlan,
} from '../../model/kept-plan/shown-plan.ts';
import { limits } from '../../model/limits.ts';
import { describeCaller } from '../../model/permission/caller.ts';
import {
  describePermission,
  namedAccess,
  namespaceCapability,
  type Permission,
} from '../../model/permission/permission.ts';
import { openPlanned } from '../../server/jobs/plan/kept.ts';
import type { PlanRequest } from '../../server/jobs/plan/planner.ts';
import type { Finish } from '../../server/jobs/register.ts';
import { discardPlan, findPlan, keptPlan, openAct, openPlan } from '../../server/plans/kept.ts';
import type { PlanWish } from '../../server/plans/plans.ts';
import { registrationEffects } from '../../server/plans/registration.ts';
import type { Server } from '../../server/server.ts';
import { keptPlans, nodes } from '../../state/tables.ts';
import type { BaseInput, Route } from '../route.ts';
import { type InputOf, serveList, serveRead, serveWrite } from '../serve.ts';
import type { Turns } from '../turns.ts';
import { actIn, requireFields } from './plan-request.ts';

/** Source: docs/contract/plans.md. */
export function planRoutes(server: Server, turns: Turns): Route[] {
  const { context } = server;
  const nowMs = () => context.world.clock.nowMs();
  const found = ({ parameters, unwatched }: BaseInput) => findPlan(unwatched, parameters.id!);
  return [
    ...serveWrite(contract.make, (input) => make(server, turns, input), { found: nodeIn }),
    ...serveList(contract.list, {
      rows: ({ snapshot }, { from, reverse }) =>
        snapshot
          .table(keptPlans)
          .by('expiry')
          .scan({ ...(from && { from }), reverse }),
      keyOf: (row: KeptPlan) => [...keptPlans.indexes.expiry.key(row)!, ...keptPlans.key(row)],
      matches: (row: KeptPlan, input) =>
        row.ExpireMs > nowMs() && input.allows(seesPlan(row, input)),
      present: planStub,
      sortedBy: (row: KeptPlan, field) =>
        field === 'ExpiresAt' ? row.ExpireMs : row[field as keyof KeptPlan],
    }),
    ...serveRead(
      contract.read,
      (input) => {
        const kept = keptPlan(input.snapshot, input.parameters.id, nowMs());
        return shownPlan(planStub(kept), contentOf(server, kept).effects, input);
      },
      { found },
    ),
    ...serveWrite(contract.apply, (input) => apply(server, input), { found }),
    ...serveWrite(contract.again, (input) => again(server, turns, input), { found }),
    ...serveWrite(
      contract.discard,
      ({ parameters: { id } }) => discardPlan(context.state, id, nowMs()),
      {
        found,
      },
    ),
  ];
}

const nodeIn = ({ body, unwatched }: Pick<InputOf<typeof contract.make>, 'body' | 'unwatched'>) =>
  unwatched.table(nodes).get(body.NodeID ?? '');

async function make(server: Server, turns: Turns, input: InputOf<typeof contract.make>) {
  const { body, namespace, unknownFields } = input;
  const kind = requireFields(body, unknownFields);
  const keep = body.Keep ?? true;
  if (kind === 'job') {
    const { PreserveCounts = false, PreserveResources = false, PolicyOverride = false } = body;
    return planJob(server, turns, input, {
      job: body.Job!,
      namespace,
      unknownFields,
      preserveCounts: PreserveCounts,
      preserveResources: PreserveResources,
      policyOverride: PolicyOverride,
      submission: body.Submission ?? undefined,
      keep,
    });
  }
  return planAct(server, input, { ...actIn(body, kind, { namespace, node: nodeIn(input) }), keep });
}

/** Plans what another plan holds, which the caller need not have made, and does not get to see whole. */
async function again(server: Server, turns: Turns, input: InputOf<typeof contract.again>) {
  const { state, world, box } = server.context;
  const kept = openPlan(state.head(), input.parameters.id, world.clock.nowMs());
  if (kept.Kind !== 'job') {
    const { act } = openAct(box, kept);
    requirePermission(input, plansAgain(kept, { act }, input));
    return planAct(server, input, { act, about: subjectOf(kept), keep: true });
  }
  const { job, request } = openPlanned(box, kept);
  const { policyOverride = false, submission } = request ?? {};
  requirePermission(input, plansAgain(kept, { PolicyOverride: policyOverride }, input));
  return planJob(server, turns, input, {
    job,
    namespace: kept.Namespace,
    unknownFields: [],
    preserveCounts: request?.preserveCounts ?? false,
    preserveResources: request?.preserveResources ?? false,
    policyOverride,
    submission: submission ?? undefined,
    keep: true,
  });
}

const subjectOf = ({
  Kind,
  Partition,
  Namespace,
  JobID,
  Subject,
  Name,
}: KeptPlan): PlanSubject => ({
  Kind,
  Partition,
  Namespace,
  JobID,
  Subject,
  Name,
});

type Caller = Pick<BaseInput, 'caller' | 'allows'>;

const callerIn = ({ caller }: Caller) => ({
  caller: callerOf(caller),
  accessor: caller.kind === 'token' ? caller.accessor : '',
});

async function planAct(
  server: Server,
  input: Caller,
  wish: Pick<PlanWish, 'act' | 'about' | 'keep'>,
) {
  const by = callerIn(input);
  const { index, id, effects } = await server.plans.make({ ...wish, ...by });
  const stub = madeStub(server, id, { ...wish.about, MadeBy: by.caller });
  return { index, value: shownPlan(stub, effects, input) };
}

async function planJob(
  server: Server,
  turns: Turns,
  input: Caller,
  wish: Omit<PlanRequest, 'jobId' | 'faults' | 'diff' | 'caller' | 'accessor' | 'mayRead'>,
) {
  const finish: Finish = (steps) => turns.finish(steps);
  const by = callerIn(input);
  const request: PlanRequest = {
    ...wish,
    ...by,
    jobId: undefined,
    faults: [],
    diff: true,
    mayRead: (name) => input.allows(namespaceCapability(name, 'read-job')),
  };
  const { index, plan, planned } = await server.planner.plan(request, finish);
  const { Namespace, ID: JobID } = planned.job;
  const about = { ...ofRegistration, Namespace, JobID, MadeBy: by.caller };
  const stub = madeStub(server, plan.PlanID, about);
  return { index, value: shownPlan(stub, registrationEffects(planned), input) };
}

async function apply(server: Server, input: InputOf<typeof contract.apply>) {
  const { context, plans, planner } = server;
  const { allows, parameters } = input;
  const kept = openPlan(context.state.head(), parameters.id, context.world.clock.nowMs());
  const { needed } = contentOf(server, kept);
  requirePermission(input, needed(input));
  const applier = {
    ...callerIn(input),
    mayRead: (name: string) => allows(namespaceCapability(name, 'read-job')),
  };
  if (kept.Kind !== 'job') {
    const value = await plans.apply(kept, applier);
    return { index: value.Index, value };
  }
  const wanted = { id: kept.ID, ...applier };
  const done = await planner.carryOutKept(kept, wanted, applier.accessor);
  const { ID, Kind } = kept;
  const { EvalID, Warnings, Index } = done;
  const value: CarriedOut = { ID, Kind, EvalIDs: EvalID ? [EvalID] : [], Warnings, Index };
  return { index: Index, value };
}

/** @throws RosterError `permission-denied` */
function requirePermission({ allows, caller }: BaseInput, needed: Permission): void {
  if (allows(needed)) return;
  const permission = describePermission(needed);
  throw refusal('permission-denied', { caller: describeCaller(caller), permission });
}

interface Content {
  readonly effects: Effects;
  readonly needed: (input: BaseInput) => Permission;
}

function contentOf({ context: { box } }: Server, kept: KeptPlan): Content {
  if (kept.Kind !== 'job') {
    const { act, effects } = openAct(box, kept);
    return { effects, needed: (input) => actPermissionIn(kept, { act }, input) };
  }
  if (kept.Sealed === '') {
    const nothing = { job: {}, PolicyOverride: false };
    const Summary = `register the job "${kept.JobID}"`;
    return {
      effects: { ...noEffects, Summary },
      needed: (input) => actPermissionIn(kept, nothing, input),
    };
  }
  const planned = openPlanned(box, kept);
  const content = { job: planned.job, PolicyOverride: planned.request?.policyOverride ?? false };
  return {
    effects: registrationEffects(planned),
    needed: (input) => actPermissionIn(kept, content, input),
  };
}

/** The plan as it was kept; without an id, if it is not. */
function madeStub(
  { context }: Server,
  id: string,
  about: PlanSubject & Pick<KeptPlan, 'MadeBy'>,
): PlanStub {
  const kept = id === '' ? undefined : findPlan(context.state.read(), id);
  if (kept !== undefined) return planStub(kept);
  const never = { CarriedOutBy: '', CarriedOutIndex: 0, OutdatedIndex: 0, ExpiresAt: '' };
  return { ID: '', ...about, ...never, CreateIndex: 0, ModifyIndex: 0 };
}

/** The plan without the changes and chains that the caller may not read. */
function shownPlan(
  stub: PlanStub,
  effects: Effects,
  { allows }: Pick<BaseInput, 'allows'>,
): ShownPlan {
  const mayRead = (namespace: string) => allows(namespaceCapability(namespace, 'read-job'));
  const isOfJob = stub.JobID !== '';
  const Changes = effects.Changes.filter(
    ({ Action, Namespace }) => (isOfJob && Action !== 'evict') || mayRead(Namespace),
  ).slice(0, limits.plan.shownMax);
  const Chains = effects.Chains.filter(({ Service, Namespace, Partition }) =>
    allows(namedAccess('service', 'read', Service, { namespace: Namespace, partition: Partition })),
  );
  const ChangesHidden = effects.Changes.length - Changes.length;
  return { ...stub, ...effects, Changes, Chains, ChangesHidden };
}
