import { checkValues } from '../../model/check-values.ts';
import { type JobAction, JobActionSchema, jobActions } from '../../model/job/job-action.ts';
import { type ScaleRequest, ScaleSchema } from '../../model/job/scale.ts';
import { below, faultAt, quote } from '../../model/path.ts';
import { allOf, anyOf, namespaceCapability } from '../../model/permission/permission.ts';
import { ScaleStatusSchema } from '../../model/scaling-event/scaling-event.ts';
import { Flag, Text, Type, Whole } from '../../model/schema.ts';
import type { ServerContext } from '../../server/context.ts';
import { scaleJob } from '../../server/jobs/scale.ts';
import { scaleStatus } from '../../server/jobs/scale-status.ts';
import type { QueryTable } from '../query.ts';
import { type Input, listRoute, longReadRoute, type Route, writeRoute } from '../route.ts';
import { contact, readJob, requireJob, submitOr } from './job.ts';

const noun = 'job';
const path = '/v1/job/:job_id+/scale';

const BodySchema = Type.Object({
  ...ScaleSchema.properties,
  EnforceIndex: Flag(),
  JobModifyIndex: Whole({ minimum: 0 }),
  PolicyOverride: Flag(),
  Namespace: Text(),
  Region: Text(),
});

interface Body extends ScaleRequest {
  readonly EnforceIndex?: boolean;
  readonly JobModifyIndex?: number;
  readonly PolicyOverride?: boolean;
  readonly Region?: string;
}

/** Without an evaluation the first two are not there. */
const ScaledSchema = Type.Object({
  EvalID: Type.Optional(Text()),
  EvalCreateIndex: Type.Optional(Whole()),
  JobModifyIndex: Whole(),
  Warnings: Text(),
  Index: Whole(),
  LastContact: Whole(),
  KnownLeader: Flag(),
});

const scalePermission = ({ namespace, body }: Input<QueryTable, Body>) => {
  const scale = submitOr(namespace, 'scale-job');
  if (!body.PolicyOverride) return scale;
  return allOf(scale, namespaceCapability(namespace, 'policy-override'));
};

/** Source: docs/contract/jobs.md#versions-and-sources, #scale-a-group. */
export function jobScaleRoutes(server: ServerContext): Route[] {
  const handle = async (input: Input<QueryTable, Body>) => {
    const { body, namespace } = input;
    const faults = checkValues(BodySchema, body);
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
    ...(['PUT', 'POST'] as const).map((method) =>
      writeRoute<QueryTable, Body>({
        ...{ method, path, noun },
        summary: 'Scale a group of a job, or tell something of its scale',
        body: { schema: BodySchema, unknown: 'report', checkValues: false },
        answer: ScaledSchema,
        permission: scalePermission,
        handle,
      }),
    ),
    longReadRoute({
      ...{ method: 'GET', path, noun },
      summary: 'Read how the groups of a job are scaled',
      blocking: true,
      answer: ScaleStatusSchema,
      permission: (input) =>
        anyOf(namespaceCapability(input.namespace, 'read-job-scaling'), readJob(input)),
      steps: (input) => scaleStatus(input.snapshot, requireJob(input)),
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/job/:job_id+/actions', noun },
      summary: "List the actions of a job's tasks",
      answer: JobActionSchema,
      filterSchema: JobActionSchema,
      permission: readJob,
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

/** One cluster is one region; `global` is any. */
const isOfRegion = ({ region }: ServerContext, { Region }: Body): boolean =>
  !Region || Region === region || Region === 'global';

/** No two actions of a task have the same name. */
const keyOf = ({ TaskGroupName, TaskName, Name }: JobAction) => [TaskGroupName, TaskName, Name];
