import { type HclFault, renderFault } from '../language/hcl/errors.ts';
import { type JobFile as HclJob, isJsonText } from '../language/jobspec/job-file.ts';
import type { Fault } from '../model/errors.ts';
import type { JobInput } from '../model/job/job.ts';
import { limits } from '../model/limits.ts';
import { ApiError, type JobRegistration } from '../sdk/client.ts';
import type { CliEnvironment } from './environment.ts';
import { CliError, refusalOf } from './errors.ts';
import { faultFinder, jobOfHcl, nameOf, readVariables, type Variables } from './job-text.ts';
import type { Options } from './options.ts';
import { plural } from './render/text.ts';
import { unreadableReason } from './unreadable.ts';

export { variableOptions } from './job-text.ts';

/** A job of a file. */
export interface ReadJob {
  /** The body of a registration: the job and its source. */
  readonly registration: JobRegistration;
  /** Formats faults of the job with their lines. The pointers begin at the job. */
  readonly locate: (faults: readonly Fault[]) => readonly string[];
  /** The place of a fault or a warning in the file, if it has one. */
  readonly placeOf: (fault: Fault) => HclFault | undefined;
  /** Adds the lines of the file to an error of the API about the job; other errors stay. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * Reads a job file, or standard input for `-`: HCL, or JSON if it begins with a brace. JSON may
 * have the form `{"Job": {…}}`, or be the job alone. The server checks the job.
 * @throws CliError with the file and its fault
 */
export async function openJobFile(
  environment: CliEnvironment,
  path: string,
  options?: Options,
): Promise<ReadJob> {
  const source = await textOf(environment, path);
  const name = path === '-' ? 'Standard input' : `"${path}"`;
  if (source.trim() === '') throw new CliError(`${name} is empty.`, { hint });
  const variables = await readVariables(environment, options, (file) => textOf(environment, file));
  if (!isJsonText(source) && !path.endsWith('.json')) {
    return fromHcl(path, source, jobOfHcl(environment, path, source, variables), variables);
  }
  const parsed = parse(source, name);
  if (isHclForm(parsed)) {
    return fromHcl(path, source, jobOfHcl(environment, path, source, variables), variables);
  }
  if (variables.flags.length + variables.files.length > 0) {
    throw new CliError(`${name} is JSON: it has no variables.`, { hint });
  }
  return fromJson(source, name, parsed);
}

/** Id and namespace of the job, if the file has them; it may write the fields in any case. */
export function nameIn(job: JobRegistration['Job']): {
  readonly id?: string;
  readonly namespace?: string;
} {
  const field = (wanted: string) => {
    const [, value] = Object.entries(job).find(([name]) => name.toLowerCase() === wanted) ?? [];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [id, namespace] = [field('id'), field('namespace')];
  return { ...(id && { id }), ...(namespace && { namespace }) };
}

/** The body of a registration. @throws CliError like `openJobFile` */
export async function readJobFile(
  environment: CliEnvironment,
  path: string,
  options?: Options,
): Promise<JobRegistration> {
  return (await openJobFile(environment, path, options)).registration;
}

function fromHcl(path: string, source: string, file: HclJob, variables: Variables): ReadJob {
  const { flags, files } = variables;
  const submission = {
    Format: 'hcl2',
    Source: source,
    VariableFlags: flags.length === 0 ? null : Object.fromEntries(flags),
    Variables: files.map(({ text }) => text).join('\n'),
  };
  const job = file.job as JobInput;
  const placeOf = faultFinder(path, source, file);
  const locate = (faults: readonly Fault[]) =>
    faults.map((fault) => {
      const place = placeOf(fault);
      return place === undefined ? fault.message : renderFault(place);
    });
  return {
    registration: isTooLarge(source) ? { Job: job } : { Job: job, Submission: submission },
    locate,
    placeOf,
    explain: (error) => {
      if (!(error instanceof ApiError) || error.code !== 'invalid-job') return error;
      const faults = error.errors.map(({ pointer, message }) => ({
        pointer: pointer.replace(/^\/Job(?=\/|$)/, ''),
        message: message.replace(/^Job\./, ''),
      }));
      const count = plural(faults.length, 'fault');
      return new CliError(
        `The job of ${nameOf(path)} has ${count}:\n\n${locate(faults).join('\n\n')}\n`,
        { refusal: refusalOf(error) },
      );
    },
  };
}

function fromJson(source: string, name: string, parsed: Record<string, unknown>): ReadJob {
  const wrapped = wrappedJob(parsed);
  const registration: JobRegistration = wrapped
    ? (parsed as unknown as JobRegistration)
    : { Job: parsed };
  if (wrapped && !isObject(wrapped.job)) {
    throw new CliError(`${name}: "${wrapped.key}" is not an object.`, { hint });
  }
  const hasSource = registration.Submission !== undefined || isTooLarge(source);
  return {
    registration: hasSource
      ? registration
      : { ...registration, Submission: { Format: 'json', Source: source } },
    locate: (faults) => faults.map(({ message }) => message),
    placeOf: () => undefined,
    explain: (error) => error,
  };
}

const hint =
  'A job file holds job "name" { … } in HCL, or the job in JSON; "roster job init" writes one.';

async function textOf(
  { readFile, stdin }: Pick<CliEnvironment, 'readFile' | 'stdin'>,
  path: string,
): Promise<string> {
  if (path === '-') return inputText(stdin.read());
  try {
    return (await readFile(path)).replace(/^\uFEFF/, '');
  } catch (error) {
    const reason = unreadableReason(error as Error);
    throw new CliError(`"${path}" cannot be read: ${reason}.`, {
      hint: 'Give the path of a job file, or - to read it from standard input.',
    });
  }
}

async function inputText(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > limits.http.jobBodyBytesMax) {
      throw new CliError(`Standard input is larger than ${limits.http.jobBodyBytesMax} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(source: string, name: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(source);
  } catch (error) {
    throw new CliError(`${name} is not JSON: ${(error as Error).message}.`, { hint });
  }
  if (!isObject(parsed)) throw new CliError(`${name} does not hold an object.`, { hint });
  return parsed;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** HCL's own JSON form: `{"job": {"name": {"group": …}}}`. */
function isHclForm({ job }: Record<string, unknown>): boolean {
  if (!isObject(job)) return false;
  const names = Object.keys(job);
  const isJob = names.some((name) =>
    ['id', 'name', 'taskgroups', 'type'].includes(name.toLowerCase()),
  );
  return names.length > 0 && !isJob && Object.values(job).every(isObject);
}

/** The job in `{"Job": {…}}`, with the key in any case. A job itself has no field of that name. */
function wrappedJob(parsed: Record<string, unknown>): { key: string; job: unknown } | undefined {
  const key = Object.keys(parsed).find((name) => name.toLowerCase() === 'job');
  return key === undefined ? undefined : { key, job: parsed[key] };
}

/** A larger source is not sent, because the server would not store it. */
const isTooLarge = (source: string): boolean =>
  Buffer.byteLength(source) > limits.job.submissionBytesMax;
