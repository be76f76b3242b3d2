import {
  jobScaleEndpoints as contract,
  type JobScaling,
  ScalingSchema,
} from '../../contract/job-scale.ts';
import { checkValues } from '../../model/check-values.ts';
import { type JobAction, jobActions } from '../../model/job/job-action.ts';
import { below, faultAt, quote } from '../../model/path.ts';
import type { ServerContext } from '../../server/context.ts';
import { scaleJob } from '../../server/jobs/scale.ts';
import { scaleStatus } from '../../server/jobs/scale-status.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveList, serveSteps, serveWrite } from '../serve.ts';
import { contact, requireJob } from './job.ts';

/** Source: docs/contract/jobs.md#versions-and-sources, #scale-a-group. */
export function jobScaleRoutes(server: ServerContext): Route[] {
  const handle = async (input: InputOf<typeof contract.scale>) => {
    const { body, namespace } = input;
    const faults = checkValues(ScalingSchema, body);
    if (!isOfRegion(server, body)) {
      faults.push(faultAt(below(null, 'Region'), `must be ${quote(server.region)}`));
    }
    const scaled = await scaleJob(server, {
      namespace,
      jobId: input.parameters.job_id!,
      request: body,
      enforceIndex: body.EnforceIndex ? (body.JobModifyIndex ?? 0) : undefined,
      policyOverride: body.PolicyOverride ?? false,
      unknownFields: input.unknownFields,
      faults,
    });
    return { index: scaled.Index, value: { ...scaled, ...contact } };
  };
  return [
    ...serveWrite(contract.scale, handle),
    ...serveSteps(contract.scaleStatus, (input) => scaleStatus(input.snapshot, requireJob(input))),
    ...serveList(contract.actions, {
      rows: (input, { from, reverse }) => {
        const all = jobActions(requireJob(input));
        const ordered = reverse ? [...all].reverse() : all;
        if (from === undefined) return ordered;
        const at = ordered.findIndex((one) => keyOf(one).join('\0') === from.join('\0'));
        return at < 0 ? [] : ordered.slice(at);
      },
      keyOf,
      present: (action) => action,
    }),
  ];
}

/** A cluster is one region; `global` means any region. */
const isOfRegion = ({ region }: ServerContext, { Region }: Pick<JobScaling, 'Region'>): boolean =>
  !Region || Region === region || Region === 'global';

/** Unique, because action names are unique within a task. */
const keyOf = ({ TaskGroupName, TaskName, Name }: JobAction) => [TaskGroupName, TaskName, Name];
