import { jobFileEndpoints as contract } from '../../contract/job-file.ts';
import type { standardFunctions } from '../../language/hcl/functions/standard.ts';
import { type Fault, invalid } from '../../model/errors.ts';
import { canonicalizeJobSteps } from '../../model/job/canonicalize.ts';
import { foreignFieldFaults } from '../../model/job/foreign-fields.ts';
import { withUnsetFields } from '../../model/job/unset.ts';
import { validateJobSteps } from '../../model/job/validate.ts';
import {
  jobWarningsSteps,
  sentencesOf,
  unknownFieldWarnings,
  warningsText,
} from '../../model/job/warnings.ts';
import { below, faultAt } from '../../model/path.ts';
import type { ServerContext } from '../../server/context.ts';
import { driverWarnings } from '../../server/jobs/driver-warnings.ts';
import { notAllowedIn } from '../../server/namespaces/capabilities.ts';
import { isNodePool } from '../../server/node-pools/pools.ts';
import { inNamespace, namespaces } from '../../state/tables.ts';
import type { BaseInput, Route } from '../route.ts';
import { type InputOf, serveWrite } from '../serve.ts';
import type { Turns } from '../turns.ts';

/**
 * Job files and validation; nothing is registered. Source: docs/contract/jobs.md#parse-a-job-file.
 */
export function jobFileRoutes({ world, region }: ServerContext, turns: Turns): Route[] {
  let functions: ReturnType<typeof standardFunctions> | undefined;
  const parse = async ({ body, namespace }: InputOf<typeof contract.parse>) => {
    const { JobHCL = '', Variables = '' } = body;
    if (JobHCL.trim() === '') {
      throw invalid('invalid-body', [faultAt(below(null, 'JobHCL'), 'must not be empty')]);
    }
    // The language is loaded when it is needed.
    const { standardFunctions } = await import('../../language/hcl/functions/standard.ts');
    const { jobOfText } = await import('../../model/job/job-text.ts');
    // Without functions that read files of the server.
    functions ??= standardFunctions({ clock: world.clock, ids: world.ids });
    // A long text is parsed in turns with other requests.
    const job = await turns.finish(jobOfText({ JobHCL, Variables }, functions));
    // The label is both ID and Name, also without `Canonicalize`.
    if (!body.Canonicalize) return { value: withUnsetFields({ ...job, Name: job.Name ?? job.ID }) };
    return { value: await turns.finish(canonicalizeJobSteps(job, { region, namespace })) };
  };

  const validate = async (input: InputOf<typeof contract.validate>) => {
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
      // Drivers validate their configuration on the node.
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

  return [...serveWrite(contract.parse, parse), ...serveWrite(contract.validate, validate)];
}

/** Faults for a missing namespace or node pool. */
function absent(
  { Namespace, NodePool }: { readonly Namespace: string; readonly NodePool: string },
  { unwatched }: Pick<BaseInput, 'unwatched'>,
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
