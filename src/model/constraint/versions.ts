/**
 * Versions and lists of version constraints, as the `version` and `semver` operands compare them.
 * Source: docs/behaviour/job-specification.md#constraints.
 *
 * 1. Segments compare as numbers, missing ones are 0; build metadata never counts.
 * 2. A pre-release comes before its release; its parts compare as semantic versioning says.
 * 3. Under `version` a pre-release satisfies an ordering constraint only if the constraint names a
 *    pre-release of the same segments; under `semver` it is ordered like any other version.
 */
export type VersionDialect = 'version' | 'semver';

interface Version {
  readonly segments: readonly bigint[];
  /** The number of segments in the text. */
  readonly written: number;
  readonly prerelease: readonly string[];
}

interface Clause {
  readonly operator: string;
  readonly version: Version;
}

const lenient = /^v?(\d+(?:\.\d+)*)(?:-([0-9A-Za-z~.-]+)|([A-Za-z~][0-9A-Za-z~.-]*))?(?:\+\S+)?$/;
const strict = /^v?(\d+(?:\.\d+)*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+\S+)?$/;
const clauseForm = /^\s*(=|!=|>=|<=|>|<|~>)?\s*(\S+)\s*$/;

function parseVersion(text: string, dialect: VersionDialect): Version | undefined {
  const match = (dialect === 'semver' ? strict : lenient).exec(text.trim());
  if (match === null) return undefined;
  const written = match[1]!.split('.').map(BigInt);
  const segments = [...written];
  while (segments.length < 3) segments.push(0n);
  const prerelease = match[2] ?? match[3];
  return { segments, written: written.length, prerelease: prerelease?.split('.') ?? [] };
}

function parseClauses(text: string, dialect: VersionDialect): readonly Clause[] | undefined {
  const clauses: Clause[] = [];
  for (const part of text.split(',')) {
    const match = clauseForm.exec(part);
    if (match === null) return undefined;
    const operator = match[1] ?? '=';
    const version = parseVersion(match[2]!, dialect);
    if (version === undefined || (operator === '~>' && dialect === 'semver')) return undefined;
    clauses.push({ operator, version });
  }
  return clauses;
}

/** A test for the constraint list; `undefined` if the list is malformed. */
export function compileVersionConstraints(
  text: string,
  dialect: VersionDialect,
): ((version: string) => boolean) | undefined {
  const clauses = parseClauses(text, dialect);
  if (clauses === undefined) return undefined;
  return (candidate) => {
    const version = parseVersion(candidate, dialect);
    return version !== undefined && clauses.every((clause) => holds(version, clause, dialect));
  };
}

function holds(version: Version, { operator, version: bound }: Clause, dialect: VersionDialect) {
  const order = compareVersions(version, bound);
  if (operator === '=') return order === 0;
  if (operator === '!=') return order !== 0;
  if (dialect === 'version' && !isPrereleaseAllowed(version, bound)) return false;
  switch (operator) {
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    default:
      return order >= 0 && isWithin(version, bound);
  }
}

function isPrereleaseAllowed(version: Version, bound: Version): boolean {
  if (version.prerelease.length === 0) return true;
  return bound.prerelease.length > 0 && compareSegments(version, bound) === 0;
}

/** `~>`: all but the last written segment are the same. */
const isWithin = (version: Version, bound: Version): boolean =>
  bound.segments
    .slice(0, bound.written - 1)
    .every((segment, position) => version.segments[position] === segment);

function compareSegments(left: Version, right: Version): number {
  const length = Math.max(left.segments.length, right.segments.length);
  for (let position = 0; position < length; position++) {
    const mine = left.segments[position] ?? 0n;
    const other = right.segments[position] ?? 0n;
    if (mine !== other) return mine < other ? -1 : 1;
  }
  return 0;
}

function compareVersions(left: Version, right: Version): number {
  return compareSegments(left, right) || comparePrereleases(left.prerelease, right.prerelease);
}

function comparePrereleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (let position = 0; position < Math.max(left.length, right.length); position++) {
    const order = comparePart(left[position], right[position]);
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(left: string | undefined, right: string | undefined): number {
  if (left === right) return 0;
  if (left === undefined) return -1;
  if (right === undefined) return 1;
  const leftNumeric = /^\d+$/.test(left);
  const rightNumeric = /^\d+$/.test(right);
  if (leftNumeric !== rightNumeric) return leftNumeric ? -1 : 1;
  if (!leftNumeric) return left < right ? -1 : 1;
  const difference = BigInt(left) - BigInt(right);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}
