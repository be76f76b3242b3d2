import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { SharedLog, SharedMemoryEngine } from './engine/shared-memory.ts';
import { FormUnfinished, StateFormatUnknown } from './errors.ts';
import { type FormSource, formFault, type TableVersions } from './form.ts';
import { openState } from './state.ts';
import type { AnyDefinition } from './table.ts';
import type { Stamps, State, TableDefinition } from './types.ts';

interface Version extends Stamps {
  readonly ID: 'version';
  readonly Tables: TableVersions;
}
interface OldNote extends Stamps {
  readonly Name: string;
  readonly Words: readonly string[];
}
interface Note extends Stamps {
  readonly Name: string;
  readonly Text: string;
  readonly Author?: string;
}

const key = ({ Name }: { readonly Name: string }) => [Name];
const versions: TableDefinition<Version> = {
  name: 'versions',
  version: 1,
  key: ({ ID }) => [ID],
  indexes: {},
};
const oldNotes: TableDefinition<OldNote> = { name: 'notes', version: 1, key, indexes: {} };
/** It knows an author, and keeps the words as a text. */
const notes: TableDefinition<Note> = {
  name: 'notes',
  version: 2,
  key,
  indexes: {},
  upcast: (row) => {
    const { Words, ...rest } = row as OldNote;
    return { ...rest, Text: Words.join(' ') };
  },
  downcast: ({ Text, Author: _, ...rest }) => ({ ...rest, Words: Text.split(' ') }),
};
const extras: TableDefinition<Note> = { name: 'extras', version: 1, key, indexes: {} };

const oldTables: readonly AnyDefinition[] = [versions, oldNotes];
const newTables: readonly AnyDefinition[] = [versions, notes, extras];
const oldForm = { versions: 1, notes: 1 };
const newForm = { versions: 1, notes: 2, extras: 1 };

const form: FormSource = {
  table: 'versions',
  packing: 'extras',
  of: (snapshot) => snapshot.table(versions).get('version')?.Tables,
};

let world: SimulatedWorld;
let log: SharedLog;
/** Of every batch that was appended, whether it may be compressed. */
let packable: (boolean | undefined)[];
/** Bytes of all batches that were appended. */
let appended: number;
beforeEach(() => {
  world = new SimulatedWorld(1);
  packable = [];
  appended = 0;
  log = new SharedLog({ clock: world.clock, leaseMs: 100 });
});

interface Setting {
  readonly limits?: object;
  /** Whether the program writes the form that the state names. */
  readonly heedsForm?: boolean;
}

async function start(tables: readonly AnyDefinition[], setting: Setting = {}): Promise<State> {
  const { limits = {}, heedsForm = true } = setting;
  const { timers, random } = world;
  const engine = new SharedMemoryEngine({ log, timers, random, beatMs: 20 });
  const known = heedsForm ? { form } : {};
  const append = engine.append.bind(engine);
  engine.append = (batch, ...rest) => {
    packable.push(batch.isPackable);
    appended += batch.bytes.byteLength;
    return append(batch, ...rest);
  };
  const state = await openState({ tables, engine, timers, limits, freeze: true, ...known });
  await world.advance(500);
  return state;
}

const agree = (state: State, Tables: TableVersions) =>
  state.write((transaction) => transaction.table(versions).put({ ID: 'version', Tables }));

const note = (state: State, Name: string) =>
  state.write((transaction) =>
    transaction.table(notes).put({ Name, Text: 'two words', Author: 'me' }),
  );

const shown = (state: State, table: TableDefinition<Note> | TableDefinition<OldNote>) =>
  [
    ...state
      .read()
      .table(table as TableDefinition<Note>)
      .scan(),
  ].map(({ CreateIndex: _, ModifyIndex: __, ...row }) => row);

/** The new program leads, and the old one follows. */
async function half(setting: Setting = {}) {
  const newer = await start(newTables, setting);
  await agree(newer, oldForm);
  const older = await start(oldTables, setting);
  return { newer, older };
}

describe('a program that is newer than the form of the state', () => {
  test('writes the older form, and shows what every reader shows', async () => {
    const { newer, older } = await half();
    const { value } = await note(newer, 'a');
    expect(value).not.toHaveProperty('Author');
    await world.advance(100);
    expect(shown(newer, notes)).toEqual([{ Name: 'a', Text: 'two words' }]);
    expect(shown(older, oldNotes)).toEqual([{ Name: 'a', Words: ['two', 'words'] }]);
    expect(shown(await start(newTables), notes)).toEqual(shown(newer, notes));
  });

  test('refuses to write a table that some server does not know, and leaves no trace', async () => {
    const { newer, older } = await half();
    const write = newer.write((transaction) => {
      transaction.table(notes).put({ Name: 'b', Text: 'x' });
      transaction.table(extras).put({ Name: 'b', Text: 'x' });
    });
    await expect(write).rejects.toBeInstanceOf(FormUnfinished);
    await note(newer, 'c');
    await world.advance(100);
    expect(shown(older, oldNotes).map(({ Name }) => Name)).toEqual(['c']);
  });

  test('breaks the others if it writes its newest form', async () => {
    const { newer, older } = await half({ heedsForm: false });
    await note(newer, 'a');
    await world.advance(100);
    expect(older.closed?.message).toContain('the stored table notes has version 2');
  });

  test('writes snapshots that the older program loads', async () => {
    const { newer, older } = await half({ limits: { logBytes: 1, logPerSnapshot: 0 } });
    for (const name of ['a', 'b', 'c']) {
      await note(newer, name);
      await world.advance(100);
    }
    expect(log.snapshot.index).toBeGreaterThan(1);
    await older.close();
    const again = await start(oldTables);
    expect(shown(again, oldNotes).length).toBe(3);
    expect(newer.saved().tables.map(({ name, version }) => [name, version])).toEqual([
      ['versions', 1],
      ['notes', 1],
    ]);
  });

  test('leads on after the older program has led, and the other way round', async () => {
    const { newer, older } = await half();
    await note(newer, 'a');
    await newer.close();
    await world.advance(1000);
    await older.write((transaction) =>
      transaction.table(oldNotes).put({ Name: 'b', Words: ['of', 'old'] }),
    );
    const again = await start(newTables);
    await older.close();
    await world.advance(1000);
    await note(again, 'c');
    expect(shown(again, notes)).toEqual([
      { Name: 'a', Text: 'two words' },
      { Name: 'b', Text: 'of old' },
      { Name: 'c', Text: 'two words' },
    ]);
  });

  test('writes its newest form from the transaction on that follows the agreement', async () => {
    const newer = await start(newTables);
    await agree(newer, oldForm);
    await note(newer, 'a');
    await agree(newer, newForm);
    await newer.write((transaction) => transaction.table(extras).put({ Name: 'x', Text: '' }));
    expect((await note(newer, 'b')).value.Author).toBe('me');
    await world.advance(100);
    const again = await start(newTables);
    expect(shown(again, notes)).toEqual([
      { Name: 'a', Text: 'two words' },
      { Name: 'b', Text: 'two words', Author: 'me' },
    ]);
    await expect(start(oldTables)).rejects.toBeInstanceOf(StateFormatUnknown);
  });

  test('lets the log compress batches after the agreement on that', async () => {
    const newer = await start(newTables);
    await note(newer, 'a');
    await agree(newer, oldForm);
    await note(newer, 'b');
    await agree(newer, newForm);
    await note(newer, 'c');
    expect(packable).toEqual([false, false, false, true, true]);
  });

  test('restores no rows in a form that some server does not read', async () => {
    const { newer } = await half();
    const rows = (Table: string, Version: number, Rows: readonly object[]) =>
      new Uint8Array(Buffer.from(JSON.stringify({ Table, Version, Rows })));
    const restore = (...texts: Uint8Array<ArrayBuffer>[]) => {
      const draft = newer.draft();
      for (const text of texts) draft.add(text);
      for (const _ of draft.settle());
      const run: Parameters<State['restore']>[0]['run'] = (transaction) =>
        transaction.table(versions).put({ ID: 'version', Tables: oldForm });
      return newer.restore({ draft, file: [], above: 0, run });
    };
    const stamps = { CreateIndex: 1, ModifyIndex: 1 };
    await expect(restore(rows('notes', 2, [{ Name: 'a', Text: 'x', ...stamps }]))).rejects.toThrow(
      FormUnfinished,
    );
    await expect(restore(rows('extras', 1, []))).rejects.toThrow(FormUnfinished);
    await note(newer, 'after');
    expect(shown(newer, notes).map(({ Name }) => Name)).toEqual(['after']);
  });
});

test('a program that cannot hold the form of the state says which table it does not know', async () => {
  const newer = await start(newTables);
  await agree(newer, newForm);
  await expect(start(oldTables)).rejects.toThrow(
    'its table notes has version 2, and this program knows up to 1',
  );
  expect(formFault({ extras: 1 }, oldTables)).toBe('it has a table extras');
  const { downcast: _, ...forgetful } = notes;
  expect(formFault(oldForm, [versions, forgetful])).toBe(
    'its table notes has version 1, which this program no longer writes',
  );
  expect(formFault(oldForm, newTables)).toBeUndefined();
});

describe('rows that are alike', () => {
  const alike: TableDefinition<OldNote> = {
    ...oldNotes,
    version: 2,
    alike: true,
    upcast: (row) => row as OldNote,
    downcast: (row) => row,
  };
  const wordsOf = (state: State) => shown(state, oldNotes).map((row) => JSON.stringify(row));

  test.each([
    ['whole while a server reads no differences', oldForm, oldTables, 3],
    ['as differences once all read them', { versions: 1, notes: 2 }, [versions, alike], 1],
  ])('are written %s', async (_, agreed, readerTables, whole) => {
    const writer = await start([versions, alike]);
    await agree(writer, agreed);
    const reader = await start(readerTables);
    const before = appended;
    await writer.write((transaction) => {
      const Words = ['x'.repeat(1000)];
      for (const Name of ['a', 'b', 'c']) transaction.table(alike).put({ Name, Words });
    });
    await world.advance(500);
    expect(wordsOf(reader)).toEqual(wordsOf(writer));
    expect(wordsOf(reader)).toHaveLength(3);
    expect(Math.floor((appended - before) / 1000)).toBe(whole);
  });
});
