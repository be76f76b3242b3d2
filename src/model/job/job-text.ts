import type { Steps } from '../../base/steps.ts';
import { HclError, type HclFault } from '../../language/hcl/errors.ts';
import type { HclFunction } from '../../language/hcl/scope.ts';
import { type JobFile, readJobInSteps } from '../../language/jobspec/job-file.ts';
import { decode } from '../codec.ts';
import { type Fault, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { type JobInput, JobSchema } from './job.ts';

/** A request to parse a job file. Source: docs/contract/jobs.md#parse-a-job-file. */
export interface JobText {
  readonly JobHCL: string;
  /** Values of variables, in the form of a file of variables. */
  readonly Variables: string;
}

/**
 * The job that a text describes, with only the fields of the text.
 * @throws RosterError `invalid-job-file` with all faults, each with its line and column
 */
export function* jobOfText(
  { JobHCL, Variables }: JobText,
  functions: ReadonlyMap<string, HclFunction>,
): Steps<JobInput> {
  return decode(JobSchema, (yield* read(JobHCL, Variables, functions)).job, {
    checkValues: false,
    code: 'invalid-job',
  }).value;
}

function* read(
  text: string,
  variables: string,
  functions: ReadonlyMap<string, HclFunction>,
): Steps<JobFile> {
  try {
    return yield* readJobInSteps(text, {
      functions,
      variables: variables === '' ? {} : { files: [{ name: 'Variables', text: variables }] },
      limits: limits.jobFile,
    });
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    throw invalid('invalid-job-file', error.faults.map(faultOf));
  }
}

function faultOf({ fileName = 'JobHCL', line, column, sentence }: HclFault): Fault {
  const message = `${fileName}, line ${line}, column ${column}: ${sentence}`;
  return { pointer: `/${fileName}`, message, line, column };
}
