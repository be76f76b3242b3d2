import { jobPlanEndpoints as contract, PlanEnvelopeSchema } from '../../contract/job-plan.ts';
import { checkValues } from '../../model/check-values.ts';
import { invalid } from '../../model/errors.ts';
import { accessorOf as callerOf } from '../../model/kept-answer/kept-answer.ts';
import { namespaceCapability } from '../../model/permission/permission.ts';
import type { Planner, PlanRequest } from '../../server/jobs/plan/planner.ts';
import type { Finish } from '../../server/jobs/register.ts';
import type { Route } from '../route.ts';
import { serveWrite } from '../serve.ts';
import type { Turns } from '../turns.ts';
import { jobRequired } from './job.ts';

/** Source: docs/contract/jobs.md#plan-a-job, docs/behaviour/jobs.md#plans. */
export function jobPlanRoutes(planner: () => Planner, turns: Turns): Route[] {
  const finish: Finish = (steps) => turns.finish(steps);
  return serveWrite(contract.plan, async (input) => {
    const { body, caller, namespace, allows } = input;
    const faults = checkValues(PlanEnvelopeSchema, body);
    if (!body.Job) throw invalid('invalid-body', [jobRequired, ...faults]);
    const request: PlanRequest = {
      job: body.Region ? { ...body.Job, Region: body.Region } : body.Job,
      namespace,
      jobId: input.parameters.job_id,
      accessor: caller.kind === 'token' ? caller.accessor : '',
      unknownFields: input.unknownFields,
      faults,
      preserveCounts: body.PreserveCounts ?? false,
      preserveResources: body.PreserveResources ?? false,
      policyOverride: body.PolicyOverride ?? false,
      diff: body.Diff ?? false,
      keep: body.Keep ?? true,
      caller: callerOf(caller),
      mayRead: (name) => allows(namespaceCapability(name, 'read-job')),
    };
    const { index, plan: value } = await planner().plan(request, finish);
    return { index, value };
  });
}
