/** Source: docs/behaviour/job-specification.md#identities. */
import { below, type Path, type Report } from '../path.ts';
import { checkUnique } from '../text-rules.ts';
import type { Identity } from './identity.ts';

/** The name of the identity that every task has. It has a field of its own. */
const defaultIdentity = 'default';

/** Validates the identities of a task besides its default identity. */
export function validateIdentities(
  identities: readonly Identity[] | null,
  path: Path,
  report: Report,
): void {
  const list = identities ?? [];
  list.forEach((identity, index) => {
    validateIdentity(identity, below(path, index), report);
  });
  checkUnique(
    list.map((identity) => identity.Name),
    (index) => below(path, index, 'Name'),
    report,
  );
}

function validateIdentity(identity: Identity, path: Path, report: Report): void {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(identity.Name)) {
    report(below(path, 'Name'), 'must be 1 to 128 letters, digits, dashes or underscores');
  } else if (identity.Name === defaultIdentity) {
    report(
      below(path, 'Name'),
      'must not be "default": the default identity is the field Identity',
    );
  }
  if (identity.Audience?.includes('')) report(below(path, 'Audience'), 'must not hold ""');
  if (identity.ChangeMode === 'signal' && identity.ChangeSignal === '') {
    report(below(path, 'ChangeSignal'), 'is required with the change mode signal');
  }
  if (identity.Filepath !== '' && !identity.File) {
    report(below(path, 'Filepath'), 'needs File to be true');
  }
}
