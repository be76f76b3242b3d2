import type { CliEnvironment } from '../environment.ts';
import { CliError } from '../errors.ts';

/** The text of a file, or of standard input for `-`. @throws CliError */
export async function readText(
  { readFile, stdin }: Pick<CliEnvironment, 'readFile' | 'stdin'>,
  path: string,
): Promise<string> {
  if (path !== '-') {
    try {
      return (await readFile(path)).replace(/^\uFEFF/, '');
    } catch (error) {
      throw new CliError(`"${path}" cannot be read: ${(error as Error).message}.`);
    }
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin.read()) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** The JSON in a file. Whether it is what was asked for is the server's to say. @throws CliError */
export async function readJson(
  environment: Pick<CliEnvironment, 'readFile' | 'stdin'>,
  path: string,
): Promise<unknown> {
  const text = await readText(environment, path);
  try {
    return JSON.parse(text);
  } catch (error) {
    const name = path === '-' ? 'Standard input' : `"${path}"`;
    throw new CliError(`${name} is not JSON: ${(error as Error).message}.`);
  }
}

/** `key=value` of options that may be given more than once. @throws CliError */
export function pairs(option: string, given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new CliError(`--${option} must have the form KEY=VALUE, got "${text}".`);
    }),
  );
}
