import { below, type Path, quote, type Report } from '../path.ts';
import { checkUnique, isPattern, isWellFormedReference } from '../text-rules.ts';
import {
  type Affinity,
  type Constraint,
  comparisonOperands,
  distinctOperands,
  patternOperands,
  presenceOperands,
  type Spread,
  setOperands,
} from './constraint.ts';
import { compileVersionConstraints } from './versions.ts';

const comparing = new Set<string>([...comparisonOperands, ...setOperands, ...patternOperands]);
const presence = new Set<string>(presenceOperands);
const distinct = new Set<string>(distinctOperands);

const semverTerm = /^(=|!=|>|<|>=|<=)?\s*\d+\.\d+\.\d+([-+].*)?$/;

const isVersionList = (text: string): boolean =>
  compileVersionConstraints(text, 'version') !== undefined;

/** Stricter than the comparison: all three parts of a version must be written. */
const isSemverList = (text: string): boolean =>
  text.split(',').every((part) => semverTerm.test(part.trim())) &&
  compileVersionConstraints(text, 'semver') !== undefined;

interface Where {
  /** `distinct_hosts` and `distinct_property` compare allocations, so tasks and devices cannot have them. */
  readonly allowDistinct: boolean;
}

/** Source: docs/behaviour/job-specification.md#constraints. */
export function validateConstraints(
  constraints: readonly Constraint[] | null,
  path: Path,
  report: Report,
  { allowDistinct }: Where,
): void {
  constraints?.forEach((constraint, index) => {
    const at = below(path, index);
    const { Operand } = constraint;
    if (distinct.has(Operand)) {
      if (!allowDistinct) report(below(at, 'Operand'), `${Operand} is not possible here`);
      else validateDistinct(constraint, at, report);
    } else if (presence.has(Operand)) {
      if (constraint.RTarget !== '') report(below(at, 'RTarget'), `must be empty with ${Operand}`);
      validateLeft(constraint, at, report);
    } else validateComparison(constraint, at, report);
  });
}

function validateDistinct(constraint: Constraint, at: Path, report: Report): void {
  if (constraint.Operand !== 'distinct_property') return;
  validateLeft(constraint, at, report);
  if (constraint.RTarget !== '' && !/^[1-9]\d*$/.test(constraint.RTarget)) {
    report(below(at, 'RTarget'), `must be a count of at least 1, got ${quote(constraint.RTarget)}`);
  }
}

type Comparison = Pick<Constraint, 'LTarget' | 'RTarget' | 'Operand'>;

function validateLeft({ LTarget }: Comparison, at: Path, report: Report): void {
  if (LTarget === '') report(below(at, 'LTarget'), 'is required');
  else if (!isWellFormedReference(LTarget)) {
    report(below(at, 'LTarget'), `is not a well-formed reference: ${quote(LTarget)}`);
  }
}

function validateComparison(comparison: Comparison, at: Path, report: Report): void {
  const { Operand, RTarget } = comparison;
  if (Operand === '') {
    report(below(at, 'Operand'), 'is required');
    return;
  }
  if (!comparing.has(Operand)) {
    report(below(at, 'Operand'), `is not a known operand: ${quote(Operand)}`);
    return;
  }
  validateLeft(comparison, at, report);
  const right = below(at, 'RTarget');
  if (RTarget === '') {
    report(right, `is required with ${Operand}`);
    return;
  }
  if (Operand === 'regexp' && !isPattern(RTarget)) {
    report(right, `is not a regular expression: ${quote(RTarget)}`);
  }
  if (Operand === 'version' && !isVersionList(RTarget)) {
    report(right, `is not a version constraint: ${quote(RTarget)}`);
  }
  if (Operand === 'semver' && !isSemverList(RTarget)) {
    report(right, `is not a semantic version constraint: ${quote(RTarget)}`);
  }
}

export function validateAffinities(
  affinities: readonly Affinity[] | null,
  path: Path,
  report: Report,
): void {
  affinities?.forEach((affinity, index) => {
    const at = below(path, index);
    validateComparison(affinity, at, report);
    if (affinity.Weight === 0) report(below(at, 'Weight'), 'must not be 0');
  });
}

export function validateSpreads(
  spreads: readonly Spread[] | null,
  path: Path,
  report: Report,
): void {
  spreads?.forEach((spread, index) => {
    const at = below(path, index);
    if (spread.Attribute === '') report(below(at, 'Attribute'), 'is required');
    else if (!isWellFormedReference(spread.Attribute)) {
      report(below(at, 'Attribute'), `is not a well-formed reference: ${quote(spread.Attribute)}`);
    }
    const targets = spread.SpreadTarget ?? [];
    checkUnique(
      targets.map((target) => target.Value),
      (target) => below(at, 'SpreadTarget', target, 'Value'),
      report,
    );
    const sum = targets.reduce((total, target) => total + target.Percent, 0);
    if (sum > 100) report(below(at, 'SpreadTarget'), `has percentages that add up to ${sum}`);
  });
}
