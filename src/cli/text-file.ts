import type { CliEnvironment } from './environment.ts';
import { CliError } from './errors.ts';
import { unreadableReason } from './unreadable.ts';

interface HasEnvironment {
  readonly environment: CliEnvironment;
}

/** The text of a file, or standard input for `-`. @throws CliError naming the file */
export async function readText(
  { environment: { readFile, stdin } }: HasEnvironment,
  path: string,
  what: string,
): Promise<string> {
  if (path !== '-') {
    return (await readFile(path).catch((error) => unreadable(path, what, error))).replace(
      /^\uFEFF/,
      '',
    );
  }
  return Buffer.from(await readAll(stdin)).toString('utf8');
}

/** The bytes of a file, or of standard input for `-`. @throws CliError naming the file */
export async function readBytes(
  { environment }: HasEnvironment,
  path: string,
  what: string,
): Promise<Uint8Array> {
  if (path === '-') return readAll(environment.stdin);
  return environment.readBytes(path).catch((error) => unreadable(path, what, error));
}

function unreadable(path: string, what: string, error: Error): never {
  const hint = `Give the path of a file with the ${what}, or - for standard input.`;
  throw new CliError(`"${path}" cannot be read: ${unreadableReason(error)}.`, {
    hint,
  });
}

async function readAll(stdin: CliEnvironment['stdin']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The JSON in a file, which the server checks. @throws CliError */
export async function readJson(
  context: HasEnvironment,
  path: string,
  what: string,
): Promise<unknown> {
  const text = await readText(context, path, what);
  try {
    return JSON.parse(text);
  } catch (error) {
    const name = path === '-' ? 'Standard input' : `"${path}"`;
    throw new CliError(`${name} is not JSON: ${(error as Error).message}.`);
  }
}
