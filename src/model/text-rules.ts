/** Checks of texts that several nouns share. */
import { compilePattern, PatternError } from '../language/filter/regex/pattern.ts';
import { limits } from './limits.ts';
import type { Path, Report } from './path.ts';

/** Reports a name that is missing, too long or has a NUL in it; returns whether it is valid. */
export function checkName(name: string, path: Path, report: Report): boolean {
  if (name === '') report(path, 'is required');
  else if (name.includes('\0')) report(path, 'must not hold a NUL character');
  else if (name.length > limits.names.lengthMax) {
    report(path, `must be at most ${limits.names.lengthMax} characters long`);
  } else return true;
  return false;
}

/**
 * Like {@link checkName}, for names that nodes use in paths. Reports all faults of a name that could lead
 * elsewhere, or be mistaken for another when it is shown.
 */
export function checkPlaceName(name: string, path: Path, report: Report): boolean {
  if (!checkName(name, path, report)) return false;
  const faults = placeNameFaults(name);
  for (const fault of faults) report(path, fault);
  return faults.length === 0;
}

/** Faults of a name that becomes a directory, each as the end of a sentence. */
export function placeNameFaults(name: string): readonly string[] {
  return [
    ...(name === '.' || name === '..' ? ['must not be "." or ".."'] : []),
    ...(/[/\\]$/.test(name) ? ['must not end in a slash or backslash'] : []),
    ...(/\p{Cc}/u.test(name) ? ['must not hold a control character'] : []),
  ];
}

/** Whether a name, taken as a path, can only be a file in the directory itself. */
export const isPathPart = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);

/** Reports every repeated name. `pathOf` gives the place of the name at an index. */
export function checkUnique(
  names: readonly string[],
  pathOf: (index: number) => Path,
  report: Report,
): void {
  if (names.length < 2) return;
  const seen = new Set<string>();
  names.forEach((name, index) => {
    if (name !== '' && seen.has(name)) report(pathOf(index), `${JSON.stringify(name)} is taken`);
    seen.add(name);
  });
}

/** Whether a path below a task's directory leaves it. Interpolated parts count as plain names. */
export function escapesDirectory(path: string): boolean {
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}

/** Whether every `${` of an attribute reference is closed and has a name. */
export function isWellFormedReference(text: string): boolean {
  const rest = text.replace(/\$\{[^${}]+\}/g, '');
  return !rest.includes('${');
}

export const hasInterpolation = (text: string): boolean => text.includes('${');

/** The results: the groups of a job, and different jobs, tend to have the same patterns. */
const judged = new Map<string, boolean>();

/** Whether the text is a pattern of RE2, the dialect of the scheduler. */
export function isPattern(text: string): boolean {
  const known = judged.get(text);
  if (known !== undefined) return known;
  const verdict = compiles(text);
  if (judged.size >= limits.job.patternsRemembered) judged.clear();
  if (text.length <= limits.names.lengthMax) judged.set(text, verdict);
  return verdict;
}

function compiles(pattern: string): boolean {
  try {
    compilePattern(pattern);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}
