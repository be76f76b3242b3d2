import { type Assertion, PatternError, type PatternNode } from './syntax.ts';

/** A pattern as instructions of an automaton. `next` and `other` are positions in the program. */
export type Instruction =
  | { readonly kind: 'set'; readonly test: (point: number) => boolean; readonly next: number }
  | { readonly kind: 'assert'; readonly assertion: Assertion; readonly next: number }
  | { readonly kind: 'fork'; readonly next: number; readonly other: number }
  | { readonly kind: 'save'; readonly slot: number; readonly next: number }
  | { readonly kind: 'match' };

/** The most instructions of a pattern, and so the greatest cost of a character. */
export const programLength = 600;

/**
 * In a fork, `next` is preferred. With `captures` the program also notes the beginning and end of groups:
 * in slots 2 and 3 for the first group, and so on. A mere test needs no captures.
 */
export function assemble(
  node: PatternNode,
  { captures = false }: { readonly captures?: boolean } = {},
): {
  readonly program: readonly Instruction[];
  readonly start: number;
} {
  const program: Instruction[] = [{ kind: 'match' }];
  const tests = new Map<string, (point: number) => boolean>();
  const add = (instruction: Instruction): number => {
    if (program.length >= programLength) throw new PatternError('it is too large when written out');
    return program.push(instruction) - 1;
  };

  // Built from the end to the start, so that each part knows its next instruction.
  const build = (part: PatternNode, next: number): number => {
    switch (part.kind) {
      case 'set':
        return add({ kind: 'set', test: setTest(part.source, part.ignoreCase, tests), next });
      case 'assert':
        return add({ kind: 'assert', assertion: part.assertion, next });
      case 'sequence':
        return part.parts.reduceRight((after, one) => build(one, after), next);
      case 'choice':
        return part.parts
          .map((one) => build(one, next))
          .reduceRight((other, one) => add({ kind: 'fork', next: one, other }));
      case 'repeat':
        return repeat(part, next);
      case 'capture': {
        if (!captures) return build(part.part, next);
        const slot = 2 + 2 * part.index;
        const inner = build(part.part, add({ kind: 'save', slot: slot + 1, next }));
        return add({ kind: 'save', slot, next: inner });
      }
    }
  };

  const fork = (more: number, done: number, lazy: boolean): Instruction =>
    lazy ? { kind: 'fork', next: done, other: more } : { kind: 'fork', next: more, other: done };

  const repeat = (part: Extract<PatternNode, { kind: 'repeat' }>, next: number): number => {
    let at = next;
    if (part.most === Infinity) {
      const place = add({ kind: 'fork', next, other: next });
      program[place] = fork(build(part.part, place), next, part.lazy);
      at = place;
    } else {
      for (let count = part.least; count < part.most; count++) {
        at = add(fork(build(part.part, at), next, part.lazy));
      }
    }
    for (let count = 0; count < part.least; count++) {
      const before = at;
      at = build(part.part, at);
      // A part without instructions adds nothing when it is repeated, and repeating it could take forever.
      if (at === before) break;
    }
    return at;
  };

  return { start: build(node, 0), program };
}

/** Tests membership by a table for ASCII. All instructions with the same set share the test. */
function setTest(
  source: string,
  ignoreCase: boolean,
  known: Map<string, (point: number) => boolean>,
): (point: number) => boolean {
  const key = `${ignoreCase ? 'i' : '-'}${source}`;
  const made = known.get(key);
  if (made) return made;
  const expression = new RegExp(`^${source}$`, ignoreCase ? 'vi' : 'v');
  const holds = (point: number): boolean => expression.test(String.fromCodePoint(point));
  // The table is filled as characters come up, since most checked patterns are never matched.
  const ascii = new Int8Array(128);
  const test = (point: number): boolean => {
    if (point >= 128) return holds(point);
    if (ascii[point] === 0) ascii[point] = holds(point) ? 1 : -1;
    return ascii[point] === 1;
  };
  known.set(key, test);
  return test;
}
