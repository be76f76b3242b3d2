import { AllocationSchema } from '../model/allocation/allocation.ts';
import { type AllocationStub, AllocationStubSchema } from '../model/allocation/allocation-stub.ts';
import type { EvaluationStub } from '../model/evaluation/evaluation-stub.ts';
import {
  type PresentedEvaluation,
  PresentedEvaluationSchema,
} from '../model/evaluation/present.ts';
import { limits } from '../model/limits.ts';
import { namespaceCapability } from '../model/permission/permission.ts';
import { List, Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import {
  type Asked,
  capability,
  decided,
  type InNamespace,
  listing,
  mayAnything,
} from './needs.ts';
import { flag, idPrefix, text } from './query.ts';
import { sortsOf } from './sorts.ts';

const listQuery = {
  ...idPrefix,
  job: text('Only evaluations of this job.'),
  status: text('Only evaluations with this status.'),
} as const;

const filterQuery = {
  filter: text('A filter expression over each evaluation.', {
    lengthMax: limits.list.filterLengthMax,
  }),
} as const;

const WithRelatedSchema = Type.Object({
  ...PresentedEvaluationSchema.properties,
  /** Only with `related=true`. */
  RelatedEvals: Type.Optional(Type.Array(PresentedEvaluationSchema)),
});

const DeleteSchema = Type.Object({
  EvalIDs: List(Type.String()),
  Filter: Text({ maxLength: limits.list.filterLengthMax }),
});

const readInItsNamespace = decided(
  '`namespace:read-job` in the namespace of the evaluation',
  ({ namespace }: Asked, found: InNamespace | undefined) =>
    namespaceCapability(found?.Namespace ?? namespace, 'read-job'),
);

export const evaluationEndpoints = endpoints(
  { group: 'evaluations', noun: 'evaluation', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/evaluations',
      summary: 'List evaluations by namespace, the oldest first',
      blocking: true,
      query: listQuery,
      answer: typed<PresentedEvaluation>(PresentedEvaluationSchema),
      filter: PresentedEvaluationSchema,
      sorts: sortsOf.evaluations,
      permission: listing(capability('read-job')),
    },
    count: {
      kind: 'read',
      path: '/v1/evaluations/count',
      summary: 'Count evaluations',
      blocking: true,
      query: filterQuery,
      answer: Type.Object({ Count: Whole() }),
      permission: listing(capability('read-job')),
    },
    read: {
      kind: 'read',
      path: '/v1/evaluation/:eval_id',
      summary: 'Read an evaluation',
      blocking: true,
      query: {
        related: flag('Include `RelatedEvals`: the evaluations before and after it.'),
      },
      answer: typed<PresentedEvaluation & { readonly RelatedEvals?: readonly EvaluationStub[] }>(
        WithRelatedSchema,
      ),
      permission: readInItsNamespace,
    },
    allocations: {
      kind: 'list',
      path: '/v1/evaluation/:eval_id/allocations',
      summary: 'List the allocations that an evaluation placed',
      blocking: true,
      answer: typed<AllocationStub>(AllocationStubSchema),
      filter: AllocationSchema,
      sorts: sortsOf.allocations,
      permission: readInItsNamespace,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/evaluations',
      summary: 'Delete evaluations',
      body: {
        example: { Filter: 'Status == "complete"' },
        schema: DeleteSchema,
        unknown: 'refuse',
      },
      answer: Type.Object({ Count: Whole() }),
      permission: mayAnything,
    },
  },
);
