import { AllocationSchema } from '../model/allocation/allocation.ts';
import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import { AllocationStubSchema } from '../model/allocation/allocation-stub.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import type { EvaluationStub } from '../model/evaluation/evaluation-stub.ts';
import {
  type PresentedEvaluation,
  PresentedEvaluationSchema,
} from '../model/evaluation/present.ts';
import { limits } from '../model/limits.ts';
import { namespaceCapability } from '../model/permission/permission.ts';
import { List, Text, Type, Whole } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import type { Asked } from './needs.ts';
import { capability, decided, listing, mayAnything } from './needs.ts';
import { idPrefix } from './query.ts';

const listQuery = {
  ...idPrefix,
  job: { kind: 'string', default: '', description: 'Only those of this job.' },
  status: { kind: 'string', default: '', description: 'Only those with this status.' },
} as const;

const filterQuery = {
  filter: {
    kind: 'string',
    default: '',
    lengthMax: limits.list.filterLengthMax,
    description: 'A filter expression over each evaluation.',
  },
} as const;

const WithRelatedSchema = Type.Object({
  ...PresentedEvaluationSchema.properties,
  /** Only when asked for with `related=true`. */
  RelatedEvals: Type.Optional(Type.Array(PresentedEvaluationSchema)),
});

const DeleteSchema = Type.Object({
  EvalIDs: List(Type.String()),
  Filter: Text({ maxLength: limits.list.filterLengthMax }),
});

const readInItsNamespace = decided(
  '`namespace:read-job` in the namespace of the evaluation',
  ({ namespace }: Asked, found: Pick<Evaluation, 'Namespace'> | undefined) =>
    namespaceCapability(found?.Namespace ?? namespace, 'read-job'),
);

export const evaluationEndpoints = endpoints(
  { group: 'evaluations', noun: 'evaluation', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/evaluations',
      summary: 'List evaluations, those of each namespace the oldest first',
      blocking: true,
      query: listQuery,
      answer: typed<PresentedEvaluation>(PresentedEvaluationSchema),
      filter: PresentedEvaluationSchema,
      permission: listing(capability('read-job')),
    },
    count: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/evaluations/count',
      summary: 'Count evaluations',
      blocking: true,
      query: filterQuery,
      answer: Type.Object({ Count: Whole() }),
      permission: listing(capability('read-job')),
    },
    read: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/evaluation/:eval_id',
      summary: 'Read an evaluation',
      blocking: true,
      query: {
        related: {
          kind: 'boolean',
          default: false,
          description: 'Include `RelatedEvals`: what led to it and what follows from it.',
        },
      },
      answer: typed<PresentedEvaluation & { readonly RelatedEvals?: readonly EvaluationStub[] }>(
        WithRelatedSchema,
      ),
      permission: readInItsNamespace,
    },
    allocations: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/evaluation/:eval_id/allocations',
      summary: 'List the allocations that an evaluation placed',
      blocking: true,
      answer: typed<AllocationStub>(AllocationStubSchema),
      filter: AllocationSchema,
      permission: readInItsNamespace,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/evaluations',
      summary: 'Forget evaluations',
      body: { schema: DeleteSchema, unknown: 'refuse' },
      answer: Type.Object({ Count: Whole() }),
      permission: mayAnything,
    },
  },
);
