/** The contents of a data directory, to look for secrets. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The text of all files below the directory, without the files of these names. */
export async function storedText(directory: string, ...exceptNames: string[]): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !exceptNames.includes(entry.name));
  const texts = files.map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
  return (await Promise.all(texts)).join('\n');
}
