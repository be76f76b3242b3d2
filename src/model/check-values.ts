/**
 * Checks the values of a record of the right types against the bounds and choices of its schema. It is apart
 * from the codec because a job is checked when it is canonical, together with all other rules.
 */
import { formatDuration } from '../base/duration.ts';
import { fieldWord } from '../language/words/field-words.ts';
import type { Fault } from './errors.ts';
import { limits } from './limits.ts';
import { below, faultAt, type Path, quote, type Report } from './path.ts';
import type { Type } from './schema.ts';
import { type Shape, shapeOf, withoutNull } from './schema-shape.ts';

type TextShape = Extract<Shape, { kind: 'string' }>;
type NumberShape = Extract<Shape, { kind: 'number' }>;
type Check = (value: unknown, path: Path, report: Report) => void;

/** `accepts` is asked before a path is made, since most values are right. */
interface Checker {
  readonly accepts?: (value: unknown) => boolean;
  /** Reports the faults of the value and of its parts. */
  readonly check: Check;
}

/**
 * All faults, in the order of the schema. An absent value, null, or a value that the codec left out as
 * faulty, is no fault here.
 */
export function checkValues(schema: Type.TSchema, value: unknown, path: Path = null): Fault[] {
  const faults: Fault[] = [];
  const checker = checkerOf(schema);
  if (checker === undefined || !isAtFault(checker, value)) return faults;
  checker.check(value, path, (at, message) => {
    if (faults.length < limits.fault.listedMax) faults.push(faultAt(at, message));
  });
  return faults;
}

/** `none` when nothing below the schema has a bound, as in most of a job. */
const checkers = new WeakMap<Type.TSchema, Checker | 'none'>();

function checkerOf(schema: Type.TSchema): Checker | undefined {
  let checker = checkers.get(schema);
  if (checker === undefined) {
    checker = compile(withoutNull(schema).schema) ?? 'none';
    checkers.set(schema, checker);
  }
  return checker === 'none' ? undefined : checker;
}

function compile(schema: Type.TSchema): Checker | undefined {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'free':
    case 'boolean':
      return undefined;
    case 'string':
      return textChecker(shape);
    case 'number':
      return rangeChecker(shape);
    case 'list': {
      const item = checkerOf(shape.item);
      if (item === undefined) return undefined;
      return {
        check: (value, path, report) =>
          (value as readonly unknown[]).forEach((one, index) => {
            if (isAtFault(item, one)) item.check(one, below(path, index), report);
          }),
      };
    }
    case 'map': {
      const inner = checkerOf(shape.value);
      if (inner === undefined) return undefined;
      return {
        check: (value, path, report) => {
          for (const [name, one] of Object.entries(value as object)) {
            if (isAtFault(inner, one)) inner.check(one, below(path, name), report);
          }
        },
      };
    }
    case 'record':
      return recordChecker(shape.properties);
  }
}

function recordChecker(properties: Readonly<Record<string, Type.TSchema>>): Checker | undefined {
  const bound = Object.entries(properties).flatMap(([name, property]) => {
    const checker = checkerOf(property);
    return checker === undefined ? [] : [{ name, checker }];
  });
  if (bound.length === 0) return undefined;
  return {
    check: (value, path, report) => {
      for (const { name, checker } of bound) {
        const one = (value as Record<string, unknown>)[name];
        if (isAtFault(checker, one)) checker.check(one, { parent: path, key: name }, report);
      }
    },
  };
}

/** Whether the value, or something in it, may be at fault. */
const isAtFault = ({ accepts }: Checker, value: unknown): boolean =>
  value !== null && value !== undefined && !accepts?.(value);

function textChecker({ choices, maxLength, words }: TextShape): Checker | undefined {
  if (choices !== undefined) {
    const listed = choices.filter((choice) => choice !== '').join(', ');
    return {
      accepts: (value) => choices.includes(value as string),
      check: (value, path, report) => {
        const hint = words === undefined ? '' : fieldWord(words, value as string);
        report(path, `must be one of ${listed}, got ${quote(value as string)}${hint}`);
      },
    };
  }
  if (maxLength === undefined) return undefined;
  return {
    accepts: (value) => (value as string).length <= maxLength,
    check: (_, path, report) => report(path, `must be at most ${maxLength} characters long`),
  };
}

function rangeChecker({ minimum, maximum, duration }: NumberShape): Checker | undefined {
  if (minimum === undefined && maximum === undefined) return undefined;
  const written = (value: number) => (duration ? formatDuration(value) : String(value));
  const wanted =
    minimum === undefined
      ? `at most ${written(maximum!)}`
      : maximum === undefined
        ? `at least ${written(minimum)}`
        : `from ${written(minimum)} to ${written(maximum)}`;
  const least = minimum ?? Number.NEGATIVE_INFINITY;
  const most = maximum ?? Number.POSITIVE_INFINITY;
  return {
    accepts: (value) => (value as number) >= least && (value as number) <= most,
    check: (value, path, report) =>
      report(path, `must be ${wanted}, got ${written(value as number)}`),
  };
}
