import { HclLimitError } from './errors.ts';
import { type EvaluationLimits, evaluationLimits } from './limits.ts';
import type { Source } from './source.ts';
import { isObject, itemsOf, type Value } from './value.ts';

/**
 * The remaining budget of evaluations. All expressions of a text share a budget, so that many small
 * expressions together cannot exceed it.
 */
export class Budget {
  readonly limits: EvaluationLimits;
  private steps = 0;
  private size = 0;

  constructor(limits: Partial<EvaluationLimits> = {}) {
    this.limits = { ...evaluationLimits, ...limits };
  }

  /** Counts work. @throws BudgetSpent */
  work(steps: number): void {
    this.steps += steps;
    if (this.steps > this.limits.stepsMax) {
      throw new BudgetSpent(`Evaluation takes more than ${this.limits.stepsMax} steps`);
    }
  }

  /** Counts characters and elements before they are made. */
  make(size: number): void {
    this.work(size >> 6);
    this.size += size;
    if (!(this.size <= this.limits.sizeMax)) {
      throw new BudgetSpent(`The values are larger than ${this.limits.sizeMax} characters`);
    }
  }

  /** Counts a value that was made of other values, and returns it. */
  made<T extends Value>(value: T): T {
    this.make(ownSize(value));
    this.weightOf(value);
    return value;
  }

  /** Counts the work of reading all of a value. */
  read(value: Value): void {
    this.work(this.weightOf(value) >> 6);
  }

  /**
   * The weight of a value with all its parts. A shared part counts wherever it occurs, since it is written
   * out there. Weight and depth are bounded as for made values.
   */
  weightOf(value: Value): number {
    const { size, depth } = weigh(value, this.limits);
    if (depth > this.limits.depthMax) throw tooDeep(this.limits);
    if (size > this.limits.sizeMax) {
      throw new BudgetSpent(`The value is larger than ${this.limits.sizeMax} characters`);
    }
    return size;
  }
}

/** A bound was met. `try` and `can` do not hide the error. The node that met the bound adds its place. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent';

  at(source: Source, offset: number): HclLimitError {
    return new HclLimitError([source.fault(this.message, offset)]);
  }
}

/** The size of the value itself. Its parts were counted when they were made. */
function ownSize(value: Value): number {
  if (typeof value === 'string') return value.length;
  const items = itemsOf(value);
  if (items !== undefined) return items.length * elementSize;
  if (!isObject(value)) return 0;
  let size = 0;
  for (const key of Object.keys(value)) size += 2 * elementSize + key.length;
  return size;
}

const tooDeep = ({ depthMax }: EvaluationLimits) =>
  new BudgetSpent(`The value is nested more than ${depthMax} deep`);

interface Weight {
  readonly size: number;
  readonly depth: number;
}

/** The weights of known values, which never change. */
const weights = new WeakMap<object, Weight>();

/** The weight of an element or a key, which takes memory even if it is empty. */
const elementSize = 8;

function weigh(value: Value, limits: EvaluationLimits, level = 0): Weight {
  if (typeof value === 'string') return { size: elementSize + value.length, depth: 0 };
  if (value === null || typeof value !== 'object') return { size: elementSize, depth: 0 };
  const known = weights.get(value);
  if (known !== undefined) return known;
  if (level > limits.depthMax) throw tooDeep(limits);
  const found = { size: elementSize, depth: 0 };
  const add = (member: Value): void => {
    const { size, depth } = weigh(member, limits, level + 1);
    found.size += size;
    if (depth > found.depth) found.depth = depth;
  };
  const items = itemsOf(value);
  if (items !== undefined) for (const item of items) add(item);
  else {
    for (const [key, member] of Object.entries(value)) {
      found.size += elementSize + key.length;
      add(member);
    }
  }
  found.depth += 1;
  weights.set(value, found);
  return found;
}
