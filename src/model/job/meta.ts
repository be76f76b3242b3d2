/**
 * Names and values that a caller gives a job, a group or a task.
 * Source: docs/behaviour/job-specification.md#the-job.
 */
import { limits } from '../limits.ts';
import { below, type Path, type Report } from '../path.ts';

const { metaMax, metaTextLengthMax } = limits.job;

/** The rules of meta in the reference. */
export const metaRules = {
  rules: `at most ${metaMax} names; a name or value of at most ${metaTextLengthMax} characters, without NUL`,
} as const;

export function validateMeta(
  meta: Readonly<Record<string, string>> | null,
  path: Path,
  report: Report,
): void {
  if (meta === null) return;
  const entries = Object.entries(meta);
  if (entries.length > metaMax) {
    report(path, `has ${entries.length} entries; at most ${metaMax} are kept`);
  }
  for (const [name, value] of entries) {
    const at = below(path, name.slice(0, limits.fault.quotedLengthMax));
    if (name === '') report(at, 'has no name');
    if (name.length > metaTextLengthMax || value.length > metaTextLengthMax) {
      report(at, `must be a name and a value of at most ${metaTextLengthMax} characters`);
    }
    if (name.includes('\0') || value.includes('\0')) report(at, 'must not hold a NUL character');
  }
}
