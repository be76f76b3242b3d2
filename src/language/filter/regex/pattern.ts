import { holds, type Neighbour, neighbour } from './neighbour.ts';
import { parsePattern } from './parse.ts';
import { assemble, type Instruction } from './program.ts';

export { PatternError } from './syntax.ts';

/**
 * Unanchored matching of RE2 patterns in a time that is linear in the text, whatever the pattern. Filters
 * come from clients, and a pattern can make a backtracking engine work for years.
 *
 * 1. The automaton is at several places of the program at once. The set of these places, with the kind of
 *    the character before, is a state of the cache. Its way on a character is found once.
 * 2. A character costs at most the program's length, even if the cache does not have its way.
 * 3. The cache is bounded. A full cache is dropped and begins again.
 * 4. Instructions that take no character are followed only when the next character is known, so that an
 *    assertion sees both its sides.
 */

/** Number of cached places and ways. */
const defaultCacheSize = 100_000;

interface State {
  readonly places: readonly number[];
  readonly before: Neighbour;
  /** The next state by code point; `true` if the text matches, whatever follows. */
  readonly ways: Map<number, State | true>;
  /** Whether a text that ends here matches; found at the first such text. */
  matchesAtEnd: boolean | undefined;
}

/** Throws `PatternError`. The test keeps a cache of states, but no texts. */
export function compilePattern(
  pattern: string,
  cacheSize = defaultCacheSize,
): (text: string) => boolean {
  const { program, start } = assemble(parsePattern(pattern));
  let states = new Map<string, State>();
  let cached = 0;

  const enter = (places: readonly number[], before: Neighbour): State => {
    const key = String.fromCharCode(before, ...places);
    const known = states.get(key);
    if (known) return known;
    cached += 1 + places.length;
    const state: State = { places, before, ways: new Map(), matchesAtEnd: undefined };
    states.set(key, state);
    return state;
  };

  const advance = (state: State, point: number): State | true => {
    const after = neighbour(point);
    const sets = closure(program, state.places, state.before, after);
    if (sets === 'match') return true;
    // The start is always among the places: a match may begin anywhere.
    const reached = new Uint8Array(program.length);
    reached[start] = 1;
    for (const set of sets) if (set.test(point)) reached[set.next] = 1;
    const places: number[] = [];
    for (let place = 0; place < reached.length; place++) {
      if (reached[place] === 1) places.push(place);
    }
    return enter(places, after);
  };

  let first = enter([start], 0);
  const forget = (): void => {
    states = new Map();
    cached = 0;
    first = enter([start], 0);
  };
  return (text) => {
    let state = first;
    for (let at = 0; at < text.length; ) {
      const point = text.codePointAt(at)!;
      at += point > 0xffff ? 2 : 1;
      let next = state.ways.get(point);
      if (next === undefined) {
        if (cached > cacheSize) forget();
        next = advance(state, point);
        state.ways.set(point, next);
        cached++;
      }
      if (next === true) return true;
      state = next;
    }
    state.matchesAtEnd ??= closure(program, state.places, state.before, 0) === 'match';
    return state.matchesAtEnd;
  };
}

type SetInstruction = Extract<Instruction, { kind: 'set' }>;

/** The instructions that wait for a character, or `match` if no character is needed. */
function closure(
  program: readonly Instruction[],
  places: readonly number[],
  before: Neighbour,
  after: Neighbour,
): readonly SetInstruction[] | 'match' {
  const seen = new Uint8Array(program.length);
  const pending = [...places];
  const sets: SetInstruction[] = [];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    if (seen[place] === 1) continue;
    seen[place] = 1;
    const instruction = program[place]!;
    if (instruction.kind === 'match') return 'match';
    if (instruction.kind === 'set') sets.push(instruction);
    else if (instruction.kind === 'save') pending.push(instruction.next);
    else if (instruction.kind === 'fork') pending.push(instruction.other, instruction.next);
    else if (holds(instruction.assertion, before, after)) pending.push(instruction.next);
  }
  return sets;
}
