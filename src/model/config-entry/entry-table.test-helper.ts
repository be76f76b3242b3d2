import { expect, test } from 'vitest';
import { type RosterError as Refused, RosterError } from '../errors.ts';
import { defaultScope } from '../namespace/namespace.ts';
import type { ConfigEntry } from './config-entry.ts';
import { completeEntry, decodeEntry } from './entry.ts';
import { entryFaults } from './entry-faults.ts';

/** The entry as it would be stored. */
export const entryOf = <E extends ConfigEntry>(body: unknown): E =>
  completeEntry(decodeEntry(body), defaultScope) as E;

/** The sentences that a caller would read. */
export function messagesOf(body: unknown): string[] {
  try {
    const given = decodeEntry(body);
    return entryFaults(given, completeEntry(given, defaultScope)).map(({ message }) => message);
  } catch (error) {
    if (error instanceof RosterError)
      return (error as Refused).errors.map(({ message }) => message);
    throw error;
  }
}

/** A change of an entry and the expected faults; no faults: the entry is right. */
export type EntryRow = readonly [
  what: string,
  change: Readonly<Record<string, unknown>>,
  ...messages: string[],
];

export function entryTable(
  base: Readonly<Record<string, unknown>>,
  rows: readonly EntryRow[],
): void {
  test('the entry that the rows change is right', () => {
    expect(messagesOf(base)).toEqual([]);
  });
  test.each(rows.map(([what, change, ...messages]) => ({ what, change, messages })))(
    '$what',
    ({ change, messages }) => {
      expect(messagesOf({ ...base, ...change })).toEqual(messages);
    },
  );
}

/** The end of the fault of every reference to a jwt-provider. */
export const noneExists = 'no such provider exists: there are no entries of that kind here';
