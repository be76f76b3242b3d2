import { limits } from '../model/limits.ts';
import type { JobRegistration } from '../sdk/client.ts';
import type { CliEnvironment } from './environment.ts';
import { CliError } from './errors.ts';

/**
 * Reads a job file, or standard input for `-`, into the body of a registration. Both forms are
 * read: `{"Job": {…}}` and the job alone. Whether the job is valid is the server's to say.
 * @throws CliError naming the file and what is wrong with it
 */
export async function readJobFile(
  environment: Pick<CliEnvironment, 'readFile' | 'stdin'>,
  path: string,
): Promise<JobRegistration> {
  const source = await textOf(environment, path);
  const name = path === '-' ? 'Standard input' : `"${path}"`;
  const parsed = parse(source, name);
  const wrapped = wrappedJob(parsed);
  const registration: JobRegistration = wrapped
    ? (parsed as unknown as JobRegistration)
    : { Job: parsed };
  if (wrapped && !isObject(wrapped.job)) {
    throw new CliError(`${name}: "${wrapped.key}" is not an object.`, { hint });
  }
  if (registration.Submission !== undefined || isTooLarge(source)) return registration;
  return { ...registration, Submission: { Format: 'json', Source: source } };
}

const hint = 'A job file holds {"Job": {…}} or the job itself; see examples/web.json.';

async function textOf(
  { readFile, stdin }: Pick<CliEnvironment, 'readFile' | 'stdin'>,
  path: string,
): Promise<string> {
  if (path === '-') return inputText(stdin.read());
  try {
    return (await readFile(path)).replace(/^\uFEFF/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = reasons[code ?? ''] ?? message;
    throw new CliError(`"${path}" cannot be read: ${reason}.`, {
      hint: 'Give the path of a job file, or - to read it from standard input.',
    });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

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
  if (source.trim() === '') throw new CliError(`${name} is empty.`, { hint });
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

/** No job has a field of that name, in whatever case it is written. */
function wrappedJob(parsed: Record<string, unknown>): { key: string; job: unknown } | undefined {
  const key = Object.keys(parsed).find((name) => name.toLowerCase() === 'job');
  return key === undefined ? undefined : { key, job: parsed[key] };
}

/** The source goes beside the job in one body, and the server keeps only so much of it. */
const isTooLarge = (source: string): boolean =>
  Buffer.byteLength(source) > limits.job.submissionBytesMax;
