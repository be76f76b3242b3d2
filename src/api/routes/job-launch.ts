import { jobLaunchEndpoints as contract } from '../../contract/job-launch.ts';
import { invalid } from '../../model/errors.ts';
import type { DispatchInput } from '../../model/job/dispatch.ts';
import { unknownFieldWarnings, warningsText } from '../../model/job/warnings.ts';
import type { ServerContext } from '../../server/context.ts';
import { dispatchJob } from '../../server/jobs/dispatch.ts';
import { forceLaunch } from '../../server/jobs/launch.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveWrite } from '../serve.ts';

/** Dispatch and forced launches. Source: docs/contract/jobs.md#dispatch-a-job. */
export function jobLaunchRoutes(server: ServerContext): Route[] {
  const dispatched = (input: InputOf<typeof contract.dispatch>) => dispatch(server, input);
  return [
    ...serveWrite(contract.dispatch, dispatched),
    ...serveWrite(contract.dispatchPayload, dispatched),
    ...serveWrite(contract.forcePeriodic, async ({ namespace, parameters }) => {
      const forced = await forceLaunch(server, namespace, parameters.job_id);
      return { index: forced.Index, value: forced };
    }),
  ];
}

async function dispatch(
  server: ServerContext,
  { namespace, parameters, query, body, unknownFields }: InputOf<typeof contract.dispatch>,
) {
  const dispatched = await dispatchJob(server, {
    namespace,
    jobId: parameters.job_id!,
    request: { ...body, IdempotencyToken: tokenOf(query.IdempotencyToken, body) },
  });
  const Warnings = warningsText(unknownFieldWarnings(unknownFields));
  return { index: dispatched.Index, value: { ...dispatched, ...(Warnings && { Warnings }) } };
}

/** @throws RosterError `invalid-body` for two different tokens */
function tokenOf(inQuery: string, { IdempotencyToken: inBody }: DispatchInput): string {
  if (inQuery === '' || !inBody || inQuery === inBody) return inQuery || (inBody ?? '');
  const message = 'IdempotencyToken is not the one of the query';
  throw invalid('invalid-body', [{ pointer: '/IdempotencyToken', message }]);
}
