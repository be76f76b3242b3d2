/** The rules of a linearizable history, one by one, and against a search for an order of the operations. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Begun, RegisterHistory } from './register-history.ts';

type Run = (history: RegisterHistory) => void;

const wrote = (history: RegisterHistory, value: string, index: number, condition?: number): void =>
  history.wrote(history.begin('r', value), index, condition);

const rows: readonly (readonly [title: string, run: Run, faults: readonly string[]])[] = [
  [
    'writes and reads one after the other have no fault',
    (history) => {
      history.read(history.begin('r'), 0, undefined);
      wrote(history, 'a', 3, 0);
      history.read(history.begin('r'), 3, 'a');
      wrote(history, 'b', 5, 3);
      history.read(history.begin('r'), 5, 'b');
    },
    [],
  ],
  [
    'a read beside a write sees it or not',
    (history) => {
      const write = history.begin('r', 'a');
      const [first, second] = [history.begin('r'), history.begin('r')];
      history.read(first, 0, undefined);
      history.read(second, 3, 'a');
      history.wrote(write, 3);
    },
    [],
  ],
  [
    'a read misses a write that ended before',
    (history) => {
      wrote(history, 'a', 3);
      wrote(history, 'b', 5);
      history.read(history.begin('r'), 3, 'a');
    },
    ['r: a read sees index 3, though 5 was seen before it began'],
  ],
  [
    'a read falls behind another read',
    (history) => {
      wrote(history, 'a', 3);
      const write = history.begin('r', 'b');
      history.read(history.begin('r'), 5, 'b');
      history.read(history.begin('r'), 3, 'a');
      history.wrote(write, 5);
    },
    ['r: a read sees index 3, though 5 was seen before it began'],
  ],
  [
    'an acknowledged write is gone',
    (history) => {
      wrote(history, 'a', 3);
      history.read(history.begin('r'), 0, undefined);
    },
    ['r: a read sees index 0, though 3 was seen before it began'],
  ],
  [
    'a refused write is there',
    (history) => {
      history.refused(history.begin('r', 'a'));
      history.read(history.begin('r'), 3, 'a');
    },
    ['r: the write of a was refused, and is there at index 3'],
  ],
  [
    'a write is refused after it was read',
    (history) => {
      const write = history.begin('r', 'a');
      history.read(history.begin('r'), 3, 'a');
      history.refused(write);
    },
    ['r: the write of a was refused, and is there at index 3'],
  ],
  [
    'a write of unknown outcome takes effect late',
    (history) => {
      history.unknown(history.begin('r', 'a'));
      wrote(history, 'b', 3);
      history.read(history.begin('r'), 5, 'a');
    },
    [],
  ],
  [
    'a write of unknown outcome took effect before it was sent',
    (history) => {
      wrote(history, 'a', 5);
      history.unknown(history.begin('r', 'b'));
      const read = history.begin('r');
      history.read({ ...read, floor: 0 }, 3, 'b');
    },
    ['r: b has index 3, but was sent after 5 was seen'],
  ],
  [
    'a value takes effect twice',
    (history) => {
      wrote(history, 'a', 3);
      history.read(history.begin('r'), 5, 'a');
    },
    ['r: the value a has the indexes 3 and 5'],
  ],
  [
    'two values have an index',
    (history) => {
      const [first, second] = [history.begin('r', 'a'), history.begin('r', 'b')];
      history.wrote(first, 3);
      history.wrote(second, 3);
    },
    ['r: index 3 has the values a and b'],
  ],
  [
    'a write lies between a conditional write and its condition',
    (history) => {
      wrote(history, 'a', 3);
      const [first, second] = [history.begin('r', 'b'), history.begin('r', 'c')];
      history.wrote(first, 4);
      history.wrote(second, 5, 3);
    },
    ['r: 5 was on condition of 3, but 4 lies between'],
  ],
  [
    'a write is seen later between a conditional write and its condition',
    (history) => {
      wrote(history, 'a', 3);
      const [first, second] = [history.begin('r', 'b'), history.begin('r', 'c')];
      const read = history.begin('r');
      history.wrote(second, 5, 3);
      history.read(read, 4, 'b');
      history.unknown(first);
    },
    ['r: 5 was on condition of 3, but 4 lies between'],
  ],
  [
    'a value comes from nowhere',
    (history) => history.read(history.begin('r'), 3, 'x'),
    ['r: nobody has sent the value x'],
  ],
  [
    'registers are apart',
    (history) => {
      wrote(history, 'a', 3);
      history.read(history.begin('s'), 0, undefined);
    },
    [],
  ],
];

function faultsOf(run: Run): string[] {
  const faults: string[] = [];
  run(new RegisterHistory((sentence) => faults.push(sentence)));
  return faults;
}

describe('the rules', () => {
  test.each(rows)('%s', (_title, run, faults) => {
    expect(faultsOf(run)).toEqual(faults);
  });
});

/** An operation: when it begins and ends, and the index that it writes at or reads. */
interface Operation {
  readonly begins: number;
  readonly ends: number;
  readonly index: number;
  readonly writes: boolean;
}

/** Whether some order of the operations respects their times, and each read sees the write before it. */
function hasOrder(left: readonly Operation[], index = 0): boolean {
  return left.some((next) => {
    if (left.some(({ ends }) => ends < next.begins)) return false;
    // Indexes rise in the order of the writes.
    if (next.writes ? next.index <= index : next.index !== index) return false;
    const rest = left.filter((operation) => operation !== next);
    return rest.length === 0 || hasOrder(rest, next.index);
  });
}

function faultsOfOperations(operations: readonly Operation[]): string[] {
  return faultsOf((history) => {
    const begun = new Map<Operation, Begun>();
    const moments = operations.flatMap((operation) => [
      { at: operation.begins, operation, ends: false },
      { at: operation.ends, operation, ends: true },
    ]);
    for (const { operation, ends } of moments.sort((left, right) => left.at - right.at)) {
      const { index, writes } = operation;
      const value = writes ? `${index}` : undefined;
      if (!ends) begun.set(operation, history.begin('r', value));
      else if (writes) history.wrote(begun.get(operation)!, index);
      else history.read(begun.get(operation)!, index, index === 0 ? undefined : `${index}`);
    }
  });
}

test('a history has a fault exactly if no order of its operations explains it', () => {
  let faulty = 0;
  const histories = fc
    .array(fc.tuple(fc.boolean(), fc.nat({ max: 4 })), { minLength: 1, maxLength: 6 })
    .chain((kinds) =>
      fc
        .shuffledSubarray(
          Array.from({ length: kinds.length * 2 }, (_, moment) => moment),
          { minLength: kinds.length * 2 },
        )
        .map((moments) => ({ kinds, moments })),
    );
  fc.assert(
    fc.property(histories, ({ kinds, moments }) => {
      let written = 0;
      const writes = kinds.filter(([isWrite]) => isWrite).length;
      const operations = kinds.map(([isWrite, number], place) => {
        const [one, other] = [moments[place * 2]!, moments[place * 2 + 1]!];
        const index = isWrite ? ++written : number % (writes + 1);
        return {
          begins: Math.min(one, other),
          ends: Math.max(one, other),
          index,
          writes: isWrite,
        };
      });
      const isLinearizable = hasOrder(operations);
      if (!isLinearizable) faulty++;
      expect(faultsOfOperations(operations).length === 0).toBe(isLinearizable);
    }),
    { numRuns: 2000 },
  );
  expect(faulty).toBeGreaterThan(100);
});
