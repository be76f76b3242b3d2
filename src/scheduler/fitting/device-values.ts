/**
 * Values that device constraints and affinities compare: text, flags, and numbers with a unit.
 * Source: docs/behaviour/scheduling.md#devices.
 *
 * 1. Numbers are compared in the base of their units. Numbers of different bases, or with a unit on
 *    one side only, are neither equal nor ordered.
 * 2. Two missing values are neither equal nor different.
 */
import type { Constraint } from '../../model/constraint/constraint.ts';
import type { DeviceAttribute, NodeDevice } from '../../model/node/device.ts';
import { textComparison } from './operands.ts';

export type DeviceValue =
  | {
      readonly kind: 'number';
      readonly number: number;
      readonly base: string;
      readonly text: string;
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'flag'; readonly flag: boolean; readonly text: string };

type Found = DeviceValue | undefined;

const powers = (of: number, prefixes: string, unit: string): [string, number][] =>
  [...prefixes].map((prefix, index) => [`${prefix}${unit}`, of ** (index + 1)]);

const bytes: readonly [string, number][] = [
  ['B', 1],
  ...powers(1000, 'kMGTPE', 'B'),
  ['KB', 1000],
  ...powers(1024, 'KMGTPE', 'iB'),
  ['kiB', 1024],
];

/** By unit: its base, and the factor to the base. */
const units: ReadonlyMap<string, { readonly base: string; readonly factor: number }> = new Map([
  ...bytes.map(([unit, factor]) => [unit, { base: 'B', factor }] as const),
  ...bytes.map(([unit, factor]) => [`${unit}/s`, { base: 'B/s', factor }] as const),
  ['Hz', { base: 'Hz', factor: 1 }],
  ...powers(1000, 'kMG', 'Hz').map(([unit, factor]) => [unit, { base: 'Hz', factor }] as const),
  ['mW', { base: 'W', factor: 0.001 }],
  ['W', { base: 'W', factor: 1 }],
  ...powers(1000, 'kMG', 'W').map(([unit, factor]) => [unit, { base: 'W', factor }] as const),
]);

function quantity(number: number, unit: string, text: string): DeviceValue {
  if (unit === '') return { kind: 'number', number, base: '', text };
  const known = units.get(unit);
  // An unknown unit is comparable only with itself.
  if (known === undefined) return { kind: 'number', number, base: `?${unit}`, text };
  return { kind: 'number', number: number * known.factor, base: known.base, text };
}

/** The value of an attribute reported by a node. */
export function attributeValue({ Float, Int, String: text, Bool, Unit }: DeviceAttribute): Found {
  if (text !== null) return { kind: 'text', text };
  if (Bool !== null) return { kind: 'flag', flag: Bool, text: String(Bool) };
  const number = Int ?? Float;
  if (number === null) return undefined;
  return quantity(number, Unit, Unit === '' ? String(number) : `${number} ${Unit}`);
}

const numeral = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s].*)?$/;

/** The value of a literal in a job: `4 GiB`, `true`, `450.5`; anything else is text. */
export function literalValue(written: string): DeviceValue {
  const text = written.trim();
  if (text === 'true' || text === 'false') return { kind: 'flag', flag: text === 'true', text };
  const [, digits, unit = ''] = numeral.exec(text) ?? [];
  const isQuantity = digits !== undefined && (unit === '' || units.has(unit));
  return isQuantity ? quantity(Number(digits), unit, text) : { kind: 'text', text: written };
}

/** Whether the values are equal; `undefined`: they cannot be compared. */
function isEqual(left: DeviceValue, right: DeviceValue): boolean | undefined {
  if (left.kind === 'number' && right.kind === 'number') {
    return left.base === right.base ? left.number === right.number : undefined;
  }
  if (left.kind === 'flag' && right.kind === 'flag') return left.flag === right.flag;
  // A model or an id may look like a number, so text decides.
  return left.kind === 'text' || right.kind === 'text' ? left.text === right.text : undefined;
}

/** Negative, 0 or positive; `undefined`: the values have no order. */
function orderOf(left: DeviceValue, right: DeviceValue): number | undefined {
  if (left.kind === 'number' && right.kind === 'number') {
    return left.base === right.base ? left.number - right.number : undefined;
  }
  if (left.kind !== 'text' || right.kind !== 'text') return undefined;
  return left.text === right.text ? 0 : left.text < right.text ? -1 : 1;
}

type Comparison = (left: Found, right: Found) => boolean;

const equal: Comparison = (left, right) =>
  left !== undefined && right !== undefined && isEqual(left, right) === true;

const different: Comparison = (left, right) => {
  if (left === undefined || right === undefined) return left !== right;
  return isEqual(left, right) !== true;
};

const ordered =
  (accepts: (order: number) => boolean): Comparison =>
  (left, right) => {
    if (left === undefined || right === undefined) return false;
    const order = orderOf(left, right);
    return order !== undefined && accepts(order);
  };

const comparisons: Readonly<Record<string, Comparison>> = {
  '=': equal,
  '==': equal,
  is: equal,
  '!=': different,
  not: different,
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
};

/** The comparison of an operand; patterns, versions and sets compare the written text. */
function comparisonFor(operand: string): Comparison {
  if (Object.hasOwn(comparisons, operand)) return comparisons[operand]!;
  const compare = textComparison(operand);
  return (left, right) => compare(left?.text, right?.text);
}

const reference = /^\$\{\s*device\.([^}]*?)\s*\}$/;

/** The part after `device.` in `${device.…}`; `undefined`: another target. */
export const deviceTarget = (target: string): string | undefined =>
  reference.exec(target.trim())?.[1];

type Reader = (device: NodeDevice, ids: readonly string[]) => Found;

const text = (value: string): DeviceValue => ({ kind: 'text', text: value });

const readers: Readonly<Record<string, Reader>> = {
  vendor: ({ Vendor }) => text(Vendor),
  type: ({ Type }) => text(Type),
  model: ({ Name }) => text(Name),
  ids: (_, ids) => text(ids.join(',')),
};

function readerOf(target: string): Reader {
  const name = deviceTarget(target);
  if (name === undefined) {
    // References to the node have no value on a device.
    const value = /\$\{/.test(target) ? undefined : literalValue(target);
    return () => value;
  }
  if (Object.hasOwn(readers, name)) return readers[name]!;
  if (!name.startsWith('attr.')) return () => undefined;
  const key = name.slice('attr.'.length);
  return ({ Attributes }) =>
    Object.hasOwn(Attributes, key) ? attributeValue(Attributes[key]!) : undefined;
}

export type DeviceRule = Pick<Constraint, 'LTarget' | 'RTarget' | 'Operand'>;

/** Whether a device satisfies a rule; `${device.ids}` stands for the given ids. */
export function compileDeviceRule({
  LTarget,
  RTarget,
  Operand,
}: DeviceRule): (device: NodeDevice, ids: readonly string[]) => boolean {
  const left = readerOf(LTarget);
  const right = readerOf(RTarget);
  const compare = comparisonFor(Operand);
  return (device, ids) => compare(left(device, ids), right(device, ids));
}
