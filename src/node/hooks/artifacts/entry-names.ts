/** The rules for names and links in archives. Pure. */
import { limits } from '../../../model/limits.ts';
import { ArtifactFailure } from './failure.ts';

/** The parts of an entry's path; empty for the archive's own root. @throws ArtifactFailure */
export function entryParts(name: string): readonly string[] {
  const quoted = JSON.stringify(name.slice(0, 100));
  if (name.startsWith('/') || name.includes('\0')) {
    throw new ArtifactFailure(`it holds the absolute name ${quoted}`);
  }
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new ArtifactFailure(`it holds ${quoted}, which leads out of it`);
  if (parts.length > limits.artifact.depthMax || parts.some((part) => part.length > 255)) {
    throw new ArtifactFailure(`it holds ${quoted}, which is too deep or too long`);
  }
  return parts;
}

/**
 * Checks that a link at `parts` stays in its tree. `..` is allowed only at the front, where it is
 * the parent of a real directory: after a name, which may be a link, it could lead anywhere.
 * @throws ArtifactFailure
 */
export function checkLink(parts: readonly string[], target: string): void {
  const name = JSON.stringify(parts.join('/').slice(0, 100));
  const steps = target.split('/').filter((part) => part !== '' && part !== '.');
  const first = steps.findIndex((part) => part !== '..');
  const climbs = first < 0 ? steps.length : first;
  const leadsOut = target.startsWith('/') || climbs > parts.length - 1;
  if (leadsOut || target.includes('\0') || target.length > limits.artifact.linkLengthMax) {
    throw new ArtifactFailure(`the link ${name} leads out of it`);
  }
  if (steps.slice(climbs).includes('..')) {
    throw new ArtifactFailure(`the link ${name} has ".." behind a name, and might lead out of it`);
  }
}
