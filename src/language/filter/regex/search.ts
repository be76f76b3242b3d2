import { holds, type Neighbour, neighbour } from './neighbour.ts';
import { parsePattern } from './parse.ts';
import { assemble, type Instruction } from './program.ts';

/**
 * Finds the matches of an RE2 pattern and its groups, in a time that is linear in the text.
 *
 * 1. All ways to match are followed together, in the order of preference: earlier alternatives before later
 *    alternatives, longer repetitions before shorter repetitions, or the reverse if they are lazy.
 * 2. Of two ways at the same instruction only the preferred way goes on, so that a character costs at most
 *    the program's length.
 * 3. A match that begins further left is preferred to every match that begins later.
 */
export interface Search {
  /** Names of the groups in order; `undefined` for a group without a name. */
  readonly names: readonly (string | undefined)[];
  /** Number of instructions of its program. */
  readonly size: number;
  /**
   * The first match that begins at `from` or later.
   * @param work is called with the work for each character, and may throw to end the search
   */
  readonly next: (text: string, from: number, work: (steps: number) => void) => Match | undefined;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Offsets in UTF-16 code units. */
export interface Match extends Span {
  /** `undefined` for a group without a match. */
  readonly groups: readonly (Span | undefined)[];
}

/** Throws `PatternError`. */
export function compileSearch(pattern: string): Search {
  const names: (string | undefined)[] = [];
  const { program, start } = assemble(parsePattern(pattern, names), { captures: true });
  return {
    names,
    size: program.length,
    next: (text, from, work) => {
      const slots = run({ program, start, groups: names.length }, text, from, work);
      return slots && matchOf(slots);
    },
  };
}

function matchOf(slots: Slots): Match {
  const groups: (Span | undefined)[] = [];
  for (let at = 2; at < slots.length; at += 2) {
    const start = slots[at]!;
    const end = slots[at + 1]!;
    groups.push(start < 0 || end < 0 ? undefined : { start, end });
  }
  return { start: slots[0]!, end: slots[1]!, groups };
}

/** Start and end of the match and of each group; -1 while there is none. Never changed. */
type Slots = readonly number[];

interface Thread {
  readonly place: number;
  readonly slots: Slots;
}

interface Program {
  readonly program: readonly Instruction[];
  /** Its first instruction. */
  readonly start: number;
  /** The number of its groups. */
  readonly groups: number;
}

function run(
  { program, start, groups }: Program,
  text: string,
  from: number,
  work: (steps: number) => void,
): Slots | undefined {
  const empty: Slots = Array<number>(2 + 2 * groups).fill(-1);
  let threads: readonly Thread[] = [];
  let found: Slots | undefined;
  let before: Neighbour = from === 0 ? 0 : neighbour(pointBefore(text, from));
  for (let at = from; ; ) {
    const point = text.codePointAt(at);
    const after: Neighbour = point === undefined ? 0 : neighbour(point);
    // A way that begins here comes after the ways that began before.
    const begun =
      found === undefined ? [...threads, { place: start, slots: empty.with(0, at) }] : threads;
    if (begun.length === 0) return found;
    const { waiting, match, followed } = follow(program, begun, { before, after, at });
    work(followed + 1);
    if (match !== undefined) found = match.with(1, at);
    if (point === undefined) return found;
    threads = waiting
      .filter(({ place }) => {
        const instruction = program[place]!;
        return instruction.kind === 'set' && instruction.test(point);
      })
      .map(({ place, slots }) => ({
        place: (program[place] as Extract<Instruction, { kind: 'set' }>).next,
        slots,
      }));
    at += point > 0xffff ? 2 : 1;
    before = after;
  }
}

function pointBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  const isLow = unit >= 0xdc00 && unit <= 0xdfff;
  return isLow ? (text.codePointAt(at - 2) ?? unit) : unit;
}

/** A position between two characters of the text. */
interface Position {
  readonly before: Neighbour;
  readonly after: Neighbour;
  readonly at: number;
}

/**
 * Follows the instructions that take no character, up to the first match: the ways after it are less
 * preferred.
 */
function follow(
  program: readonly Instruction[],
  threads: readonly Thread[],
  { before, after, at }: Position,
): {
  readonly waiting: readonly Thread[];
  readonly match: Slots | undefined;
  /** Number of instructions and of copied slots. */
  readonly followed: number;
} {
  let followed = program.length >> 4;
  const seen = new Uint8Array(program.length);
  const waiting: Thread[] = [];
  for (const thread of threads) {
    const pending = [thread];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { place, slots } = next;
      if (seen[place] === 1) continue;
      seen[place] = 1;
      followed += 1;
      const instruction = program[place]!;
      switch (instruction.kind) {
        case 'match':
          return { waiting, match: slots, followed };
        case 'set':
          waiting.push(next);
          break;
        case 'fork':
          pending.push({ place: instruction.other, slots }, { place: instruction.next, slots });
          break;
        case 'save':
          followed += slots.length >> 3;
          pending.push({ place: instruction.next, slots: slots.with(instruction.slot, at) });
          break;
        case 'assert':
          if (holds(instruction.assertion, before, after)) {
            pending.push({ place: instruction.next, slots });
          }
      }
    }
  }
  return { waiting, match: undefined, followed };
}
