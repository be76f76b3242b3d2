import { invalid } from '../../model/errors.ts';
import { type DispatchInput, DispatchSchema } from '../../model/job/dispatch.ts';
import { unknownFieldWarnings, warningsText } from '../../model/job/warnings.ts';
import { limits } from '../../model/limits.ts';
import { anyOf, namespaceCapability } from '../../model/permission/permission.ts';
import { Text, Type, Whole } from '../../model/schema.ts';
import type { ServerContext } from '../../server/context.ts';
import { dispatchJob } from '../../server/jobs/dispatch.ts';
import { forceLaunch } from '../../server/jobs/launch.ts';
import type { QueryTable } from '../query.ts';
import { type BodyDefinition, type Input, type Route, writeRoute } from '../route.ts';

/** Source: docs/behaviour/jobs.md#answers-of-writes. */
const DispatchedSchema = Type.Object({
  DispatchedJobID: Text(),
  EvalID: Text(),
  EvalCreateIndex: Whole(),
  JobCreateIndex: Whole(),
  Index: Whole(),
  /** Only where there are any. */
  Warnings: Type.Optional(Text()),
});

const ForcedSchema = Type.Object({ EvalID: Text(), EvalCreateIndex: Whole(), Index: Whole() });

const dispatchQuery = {
  IdempotencyToken: {
    kind: 'string',
    default: '',
    lengthMax: limits.names.lengthMax,
    description: 'Of all dispatches with the same one, the first makes a child.',
  },
} as const satisfies QueryTable;

const dispatchBody = {
  schema: DispatchSchema,
  unknown: 'report',
  optional: true,
  checkValues: false,
} as const;

/** What makes jobs of a pattern. Source: docs/contract/jobs.md#dispatch-a-job. */
export function jobLaunchRoutes(server: ServerContext): Route[] {
  const dispatchRoute = (
    method: 'PUT' | 'POST',
    path: string,
    summary: string,
    body: BodyDefinition,
  ) =>
    writeRoute({
      ...{ method, path, noun: 'job', summary, query: dispatchQuery, body },
      answer: DispatchedSchema,
      permission: ({ namespace }) => namespaceCapability(namespace, 'dispatch-job'),
      handle: (input: Input<typeof dispatchQuery, DispatchInput>) => dispatch(server, input),
    });

  return (['PUT', 'POST'] as const).flatMap((method) => [
    dispatchRoute(method, '/v1/job/:job_id+/dispatch', 'Dispatch a job', dispatchBody),
    dispatchRoute(
      method,
      '/v1/job/:job_id+/dispatch/payload',
      'Dispatch a job with the body as its payload',
      { ...dispatchBody, raw: 'Payload' },
    ),
    writeRoute({
      ...{ method, path: '/v1/job/:job_id+/periodic/force', noun: 'job' },
      summary: 'Launch a periodic job now',
      answer: ForcedSchema,
      permission: ({ namespace }) =>
        anyOf(
          namespaceCapability(namespace, 'dispatch-job'),
          namespaceCapability(namespace, 'submit-job'),
          namespaceCapability(namespace, 'force-periodic-job'),
        ),
      handle: async ({ namespace, parameters }) => {
        const forced = await forceLaunch(server, namespace, parameters.job_id!);
        return { index: forced.Index, value: forced };
      },
    }),
  ]);
}

async function dispatch(
  server: ServerContext,
  { namespace, parameters, query, body, unknownFields }: Input<typeof dispatchQuery, DispatchInput>,
) {
  const dispatched = await dispatchJob(server, {
    namespace,
    jobId: parameters.job_id!,
    request: { ...body, IdempotencyToken: tokenOf(query.IdempotencyToken, body) },
  });
  const Warnings = warningsText(unknownFieldWarnings(unknownFields));
  return { index: dispatched.Index, value: { ...dispatched, ...(Warnings && { Warnings }) } };
}

/** @throws RosterError `invalid-body` where two are given */
function tokenOf(inQuery: string, { IdempotencyToken: inBody }: DispatchInput): string {
  if (inQuery === '' || !inBody || inQuery === inBody) return inQuery || (inBody ?? '');
  const message = 'IdempotencyToken is not the one of the query';
  throw invalid('invalid-body', [{ pointer: '/IdempotencyToken', message }]);
}
