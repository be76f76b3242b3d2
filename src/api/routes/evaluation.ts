import { namespaceCapability } from '../../acl/permission.ts';
import { AllocationSchema } from '../../model/allocation/allocation.ts';
import { allocationStub } from '../../model/allocation/allocation-stub.ts';
import { refusal } from '../../model/errors.ts';
import { type Evaluation, EvaluationSchema } from '../../model/evaluation/evaluation.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import { allocations, evaluations, inNamespace } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { scanPage } from '../list.ts';
import { listRoute, type Route, readRoute, type Scope } from '../route.ts';
import { jobType } from './allocation.ts';

function find(snapshot: Snapshot, id: string): Evaluation | undefined {
  for (const row of snapshot
    .table(evaluations)
    .by('id')
    .scan({ prefix: [id] }))
    return row;
  return undefined;
}

/** @throws RosterError `evaluation-not-found` */
function evaluationById(snapshot: Snapshot, id: string): Evaluation {
  const evaluation = find(snapshot, id);
  if (evaluation === undefined) throw refusal('evaluation-not-found', { id });
  return evaluation;
}

const readInItsNamespace = ({ parameters, namespace, unwatched }: Scope) =>
  namespaceCapability(find(unwatched, parameters.eval_id!)?.Namespace ?? namespace, 'read-job');

/** Source: facts/scheduler.md §5.1, §8.2. */
export function evaluationRoutes(): Route[] {
  return [
    listRoute({
      method: 'GET',
      path: '/v1/evaluations',
      noun: 'evaluation',
      summary: 'List evaluations',
      blocking: true,
      query: {
        prefix: { kind: 'string', default: '', description: 'The beginning of the id.' },
        job: { kind: 'string', default: '', description: 'Only those of this job.' },
        status: { kind: 'string', default: '', description: 'Only those with this status.' },
      },
      answer: EvaluationSchema,
      filterSchema: EvaluationSchema,
      permission: ({ namespace }) =>
        namespace === everyNamespace
          ? { kind: 'open' }
          : namespaceCapability(namespace, 'read-job'),
      rows: ({ namespace, query, snapshot }, page) =>
        snapshot.table(evaluations).scan({
          ...(namespace === everyNamespace
            ? { prefix: [defaultPartition] }
            : { prefix: inNamespace(namespace), text: query.prefix }),
          ...scanPage(page),
        }),
      keyOf: (evaluation: Evaluation) => [evaluation.Namespace, evaluation.ID],
      matches: (evaluation, { query }) =>
        evaluation.ID.startsWith(query.prefix) &&
        (query.job === '' || evaluation.JobID === query.job) &&
        (query.status === '' || evaluation.Status === query.status),
      visible: (evaluation) => namespaceCapability(evaluation.Namespace, 'read-job'),
      present: (evaluation) => evaluation,
    }),
    readRoute({
      method: 'GET',
      path: '/v1/evaluation/:eval_id',
      noun: 'evaluation',
      summary: 'Read an evaluation',
      blocking: true,
      answersRow: true,
      answer: EvaluationSchema,
      permission: readInItsNamespace,
      handle: ({ parameters, snapshot }) => evaluationById(snapshot, parameters.eval_id!),
    }),
    listRoute({
      method: 'GET',
      path: '/v1/evaluation/:eval_id/allocations',
      noun: 'evaluation',
      summary: 'List the allocations that an evaluation placed',
      blocking: true,
      answer: AllocationSchema,
      filterSchema: AllocationSchema,
      permission: readInItsNamespace,
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
  ];
}
