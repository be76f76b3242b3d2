import { limits } from '../limits.ts';
import { below, type Path, type Report } from '../path.ts';

/**
 * Faults of an environment with which no program could start. Names may have references, which are filled in
 * later.
 */
export function validateEnvironment(
  variables: Readonly<Record<string, string>> | null,
  path: Path,
  report: Report,
): void {
  for (const [name, value] of Object.entries(variables ?? {})) {
    const at = below(path, name.slice(0, limits.fault.quotedLengthMax));
    if (name === '') report(at, 'has no name');
    if (name.includes('=')) report(at, 'must not hold a "=" in its name');
    if (name.includes('\0') || value.includes('\0')) report(at, 'must not hold a NUL character');
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 1;
    if (bytes > limits.task.variableBytesMax) {
      report(
        at,
        `has ${bytes} bytes with its name, and ${limits.task.variableBytesMax} is the limit`,
      );
    }
  }
}
