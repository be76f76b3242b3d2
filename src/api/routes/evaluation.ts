import { evaluationEndpoints as contract } from '../../contract/evaluation.ts';
import { allocationStub } from '../../model/allocation/allocation-stub.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import { evaluationStub, relatedEvaluations } from '../../model/evaluation/evaluation-stub.ts';
import { PresentedEvaluationSchema, presentEvaluation } from '../../model/evaluation/present.ts';
import { limits } from '../../model/limits.ts';
import { namespaceCapability } from '../../model/permission/permission.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  deleteEvaluations,
  deleteMatchingEvaluations,
  evaluationById as find,
} from '../../server/scheduling/evaluations/delete.ts';
import { allocations, evaluations, inNamespace } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { filterOn } from '../filter.ts';
import { oldestFirst, wholeNamespace } from '../oldest-first.ts';
import type { BaseInput, Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';
import { jobType } from './allocation.ts';

/** @throws RosterError `evaluation-not-found` */
function evaluationById(snapshot: Snapshot, id: string): Evaluation {
  const evaluation = find(snapshot, id);
  if (evaluation === undefined) throw refusal('evaluation-not-found', { id });
  return evaluation;
}

/** The row that the permission depends on. */
const evaluationIn = ({ parameters, unwatched }: Pick<BaseInput, 'parameters' | 'unwatched'>) =>
  find(unwatched, parameters.eval_id!);

const inOrder = oldestFirst(evaluations);

/** Source: docs/behaviour/evaluations.md#statuses, #read-and-delete. */
export function evaluationRoutes(context: ServerContext): Route[] {
  return [
    ...serveList(contract.list, {
      record: presentEvaluation,
      rows: (input, page) => {
        refuseBoth(input.query, (input.query as { readonly filter?: string }).filter ?? '');
        return inOrder.rows(input, page);
      },
      keyOf: inOrder.keyOf,
      follows: inOrder.follows,
      matches: (evaluation, { query }) =>
        evaluation.ID.startsWith(query.prefix) &&
        (query.job === '' || evaluation.JobID === query.job) &&
        (query.status === '' || evaluation.Status === query.status),
      present: presentEvaluation,
    }),
    ...serveRead(contract.count, ({ namespace, query, snapshot, allows }) => {
      const matches = filterOn(query.filter, PresentedEvaluationSchema);
      const seen = new Map<string, boolean>();
      const isVisible = (name: string): boolean => {
        const known = seen.get(name) ?? allows(namespaceCapability(name, 'read-job'));
        seen.set(name, known);
        return known;
      };
      let Count = 0;
      for (const one of snapshot.table(evaluations).scan({ prefix: wholeNamespace(namespace) })) {
        if (isVisible(one.Namespace) && matches(presentEvaluation(one))) Count++;
      }
      return { Count };
    }),
    ...serveRead(
      contract.read,
      ({ parameters, query, snapshot }) => {
        const evaluation = evaluationById(snapshot, parameters.eval_id!);
        if (!query.related) return presentEvaluation(evaluation);
        const prefix = inNamespace(evaluation.Namespace, evaluation.JobID);
        const ofJob = snapshot.table(evaluations).by('job').scan({ prefix });
        const related = relatedEvaluations(evaluation, ofJob, limits.evaluation.relatedMax);
        const RelatedEvals = related.map(evaluationStub);
        return { ...presentEvaluation(evaluation), RelatedEvals };
      },
      { found: evaluationIn },
    ),
    ...serveList(contract.allocations, {
      found: evaluationIn,
      rows: ({ parameters, snapshot, unwatched }, { from, reverse }) => {
        const id = parameters.eval_id!;
        const { ID } = find(unwatched, id) ?? evaluationById(snapshot, id);
        const range = { prefix: [ID], ...(from && { from }), reverse };
        return snapshot.table(allocations).by('evaluation').scan(range);
      },
      keyOf: ({ EvalID, Namespace, ID }) => [EvalID, ...inNamespace(Namespace, ID)],
      present: (allocation, { unwatched }) =>
        allocationStub(allocation, jobType(unwatched, allocation)),
    }),
    ...serveWrite(contract.delete, async ({ body, namespace }) => {
      const { EvalIDs, Filter } = body;
      refuseUnclear(EvalIDs ?? [], Filter ?? '');
      const deleted = EvalIDs?.length
        ? await deleteEvaluations(context, EvalIDs)
        : await deleteMatchingEvaluations(
            context,
            wholeNamespace(namespace),
            presentedFits(filterOn(Filter ?? '', PresentedEvaluationSchema)),
          );
      return { index: deleted.index, value: { Count: deleted.count } };
    }),
  ];
}

/** Filters apply to presented evaluations. */
const presentedFits = (fits: (record: unknown) => boolean) => (evaluation: Evaluation) =>
  fits(presentEvaluation(evaluation));

/** Source: docs/contract/http.md#lists. */
function refuseBoth(query: { readonly job: string; readonly status: string }, filter: string) {
  if (filter === '' || (query.job === '' && query.status === '')) return;
  const reason = 'cannot be used with other filter parameters';
  throw refusal('invalid-query', { parameter: 'filter', reason });
}

function refuseUnclear(ids: readonly string[], filter: string): void {
  const { deletedMax } = limits.evaluation;
  const faults: Fault[] = [];
  const fault = (pointer: string, message: string) => faults.push({ pointer, message });
  if (ids.length > deletedMax) {
    fault('/EvalIDs', `EvalIDs has ${ids.length} ids; at most ${deletedMax} are taken at once`);
  }
  if (ids.length === 0 && filter.trim() === '') {
    fault('/EvalIDs', 'EvalIDs or Filter is required');
  }
  if (ids.length > 0 && filter !== '') fault('/Filter', 'Filter cannot be given with EvalIDs');
  if (faults.length > 0) throw invalid('invalid-body', faults);
}
