import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../model/limits.ts';
import { KeptTexts, ListText, listForms } from './list-text.ts';

interface Row {
  readonly name: string;
}
interface Other {
  readonly count: number;
}

describe('a kept text', () => {
  test('is the text of the row and the other row of now, whatever was read, replaced and forgotten before', () => {
    const step = fc.record({
      at: fc.nat(2),
      change: fc.constantFrom('none', 'row', 'other', 'no other', 'forgotten', 'all forgotten'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const kept = new KeptTexts();
        const rows: Row[] = [{ name: 'a' }, { name: 'ä' }, { name: '"' }];
        const others: (Other | null)[] = [null, { count: 0 }, { count: 0 }];
        for (const { at, change } of steps) {
          const row = rows[at]!;
          if (change === 'row') rows[at] = { name: `${row.name}+` };
          if (change === 'other') others[at] = { count: (others[at]?.count ?? 0) + 1 };
          if (change === 'no other') others[at] = null;
          // A commit forgets the row that it replaces.
          if (change === 'row' || change === 'forgotten') kept.forget(row);
          if (change === 'all forgotten') kept.forgetAll();
          const recordOf = (of: Row) => ({ ...of, other: others[at] });
          const now = rows[at]!;
          expect(kept.textOf(now, others[at]!, recordOf)).toBe(JSON.stringify(recordOf(now)));
        }
      }),
    );
  });

  test('is made once, as long as there is room', () => {
    const kept = new KeptTexts();
    let made = 0;
    const recordOf = (row: { readonly text: string }) => {
      made++;
      return row;
    };
    const long = { text: 'x'.repeat(limits.http.listedTextsLengthMax / 2) };
    const longer = { text: 'x'.repeat(limits.http.listedTextsLengthMax / 2) };
    const madeFor = (row: { readonly text: string }) => {
      made = 0;
      for (let times = 0; times < 2; times++) kept.textOf(row, null, recordOf);
      return made;
    };
    expect([madeFor(long), madeFor(longer), madeFor(long)]).toEqual([1, 2, 0]);
    kept.forget(long);
    expect(madeFor(longer)).toBe(1);
  });
});

test.each(['plain', 'pretty', 'kept'] as const)('the parts of a %s list are its JSON', (name) => {
  const records = [{ a: [1] }, { b: null }, {}];
  const given = name === 'kept' ? records.map((one) => JSON.stringify(one)) : records;
  const whole =
    name === 'pretty' ? `${JSON.stringify(records, null, 4)}\n` : JSON.stringify(records);
  for (const parts of [[given], [given.slice(0, 1), [], given.slice(1)]]) {
    const text = new ListText(listForms[name]);
    expect(parts.map((part) => text.next(part)).join('') + text.end()).toBe(whole);
  }
});
