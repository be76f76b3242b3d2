/**
 * The single executable file, which has Node and all files of the program inside. `tools/release/executable/boot.cjs`
 * gives each of these files an address below the executable, where no real file can be.
 */
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Whether the module of this address is a part of the executable. */
export const isInExecutable = (url: string): boolean =>
  url.startsWith(`${pathToFileURL(process.execPath)}/`);

/** The command line of another Node that runs a file of this program. */
export function nodeCommand(flags: readonly string[], file: URL): [program: string, ...string[]] {
  const path = fileURLToPath(file);
  // The executable takes only words for the program, and Node's flags together in one of them.
  const given = isInExecutable(file.href) ? [`--node-options=${flags.join(' ')}`] : flags;
  return [process.execPath, ...given, path];
}
