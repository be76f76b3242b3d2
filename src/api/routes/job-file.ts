import { standardFunctions } from '../../language/hcl/functions/standard.ts';
import { type Fault, invalid } from '../../model/errors.ts';
import { canonicalizeJobSteps } from '../../model/job/canonicalize.ts';
import { foreignFieldFaults } from '../../model/job/foreign-fields.ts';
import { type JobInput, JobSchema } from '../../model/job/job.ts';
import { jobOfText } from '../../model/job/job-text.ts';
import { UnsetJobSchema, withUnsetFields } from '../../model/job/unset.ts';
import { validateJobSteps } from '../../model/job/validate.ts';
import {
  jobWarningsSteps,
  sentencesOf,
  unknownFieldWarnings,
  warningsText,
} from '../../model/job/warnings.ts';
import { limits } from '../../model/limits.ts';
import { below, faultAt } from '../../model/path.ts';
import { anyOf, namespaceCapability } from '../../model/permission/permission.ts';
import { Flag, FullList, Nullable, Text, Type } from '../../model/schema.ts';
import type { ServerContext } from '../../server/context.ts';
import { driverWarnings } from '../../server/jobs/driver-warnings.ts';
import { notAllowedIn } from '../../server/namespaces/capabilities.ts';
import { isNodePool } from '../../server/nodes/pools.ts';
import { inNamespace, namespaces } from '../../state/tables.ts';
import type { QueryTable } from '../query.ts';
import { type Input, type Route, type Scope, writeRoute } from '../route.ts';
import type { Turns } from '../turns.ts';

const ParseSchema = Type.Object({ JobHCL: Text(), Canonicalize: Flag(), Variables: Text() });

interface ParseBody {
  readonly JobHCL?: string;
  readonly Canonicalize?: boolean;
  readonly Variables?: string;
}

const ValidationSchema = Type.Object({
  Job: Nullable(JobSchema),
  Namespace: Text(),
  Region: Text(),
});

interface ValidationBody {
  readonly Job?: JobInput | null;
  readonly Region?: string;
}

/** Source: docs/behaviour/jobs.md#parse-and-validate. */
const ValidatedSchema = Type.Object({
  DriverConfigValidated: Flag(),
  ValidationErrors: FullList(Type.String()),
  Error: Text(),
  Warnings: Text(),
});

const methods = ['POST', 'PUT'] as const;

/** What looks at jobs and registers none. Source: docs/contract/jobs.md#parse-a-job-file. */
export function jobFileRoutes({ world, region }: ServerContext, turns: Turns): Route[] {
  // Without files: those of a server are nobody's business.
  const functions = standardFunctions({ clock: world.clock, ids: world.ids });

  const parse = async ({ body, namespace }: Input<QueryTable, ParseBody>) => {
    const { JobHCL = '', Variables = '' } = body;
    if (JobHCL.trim() === '') {
      throw invalid('invalid-body', [faultAt(below(null, 'JobHCL'), 'must not be empty')]);
    }
    // A text may be long: others go first after a few milliseconds.
    const job = await turns.finish(jobOfText({ JobHCL, Variables }, functions));
    // The label of a job is its name as well as its id, even where nothing is filled in.
    if (!body.Canonicalize) return { value: withUnsetFields({ ...job, Name: job.Name ?? job.ID }) };
    return { value: await turns.finish(canonicalizeJobSteps(job, { region, namespace })) };
  };

  const validate = async (input: Input<QueryTable, ValidationBody>) => {
    const { Job, Region } = input.body;
    if (!Job) throw invalid('invalid-body', [faultAt(below(null, 'Job'), 'is required')]);
    const { namespace } = input;
    const given = { ...Job, Region: Region || Job.Region || region, Namespace: namespace };
    const job = await turns.finish(canonicalizeJobSteps(given, { region, namespace }));
    const ofJob = input.unknownFields.map((pointer) => pointer.replace(/^\/Job(?=\/)/, ''));
    const faults = [
      ...foreignFieldFaults(ofJob),
      ...(await turns.finish(validateJobSteps(job))),
      ...absent(job, input),
      ...notAllowedIn(input.unwatched, job, null),
    ];
    const warnings = sentencesOf(await turns.finish(jobWarningsSteps(job, Job)));
    const value = {
      // A driver judges its configuration where the task runs.
      DriverConfigValidated: true,
      ValidationErrors: faults.map(({ message }) => message),
      Error: faults.length === 0 ? '' : invalid('invalid-job', faults).detail,
      Warnings: warningsText([
        ...warnings,
        ...driverWarnings(input.unwatched, job),
        ...unknownFieldWarnings(input.unknownFields),
      ]),
    };
    return { value };
  };

  return methods.flatMap((method) => [
    writeRoute<QueryTable, ParseBody>({
      ...{ method, path: '/v1/jobs/parse', noun: 'job' },
      summary: 'Read a job file in HCL',
      body: { schema: ParseSchema, unknown: 'report', bytesMax: limits.http.jobBodyBytesMax },
      answer: UnsetJobSchema,
      permission: ({ namespace }) =>
        anyOf(
          namespaceCapability(namespace, 'parse-job'),
          namespaceCapability(namespace, 'submit-job'),
        ),
      handle: parse,
    }),
    writeRoute<QueryTable, ValidationBody>({
      ...{ method, path: '/v1/validate/job', noun: 'job' },
      summary: 'Say whether a job is valid',
      body: {
        ...{ schema: ValidationSchema, unknown: 'report', checkValues: false },
        bytesMax: limits.http.jobBodyBytesMax,
      },
      answer: ValidatedSchema,
      permission: ({ namespace }) => namespaceCapability(namespace, 'read-job'),
      handle: validate,
    }),
  ]);
}

/** What the job names and is not there. */
function absent(
  { Namespace, NodePool }: { readonly Namespace: string; readonly NodePool: string },
  { unwatched }: Pick<Scope, 'unwatched'>,
): Fault[] {
  const faults: Fault[] = [];
  if (!unwatched.table(namespaces).has(...inNamespace(Namespace))) {
    faults.push(faultAt(below(null, 'Namespace'), `names "${Namespace}", which is not there`));
  }
  if (!isNodePool(unwatched, NodePool)) {
    faults.push(faultAt(below(null, 'NodePool'), `names "${NodePool}", which is not there`));
  }
  return faults;
}
