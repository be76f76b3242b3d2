/** A store with a history, and ways to damage its files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../base/ports.ts';
import { realWorld } from '../../base/ports-real.ts';
import { seededRandom } from '../../base/ports-simulated.ts';
import { ExaminedStore } from '../engine/salvage/examined-store.ts';
import { SameThreadEngine, type Scratch } from '../engine/sqlite.test-helper.ts';
import type { StateLimits } from '../limits.ts';
import { openState } from '../state.ts';
import {
  allTables,
  evaluations,
  jobVersions,
  namespaces,
  serviceRegistrations,
} from '../tables.ts';
import type { Snapshot, State, Transaction } from '../types.ts';
import { type Examined, examine } from './examine.ts';

/** The rows of all tables, by table and key. */
export type Rows = ReadonlyMap<string, unknown>;

export const rowName = (table: string, key: readonly string[]): string =>
  JSON.stringify([table, key]);

export function rowsOf(snapshot: Snapshot): Rows {
  const rows = allTables.flatMap((table) =>
    [...snapshot.table(table).scan()].map(
      (row) => [rowName(table.name, table.key(row)), row] as const,
    ),
  );
  return new Map(rows);
}

export interface History {
  /** As a crash leaves it: with rows in the database, and more in its write-ahead log. */
  readonly directory: string;
  /** The same after the process ended in good order. */
  readonly closed: string;
  readonly rows: Rows;
  /** Every row that ever was. */
  readonly versions: ReadonlySet<string>;
  readonly index: number;
}

/** Snapshots are small and frequent. */
const limits: Partial<StateLimits> = {
  logBytes: 50_000,
  logPerSnapshot: 0,
  snapshotPartBytes: 1_500,
};

/**
 * Writes rows that are whole, alike and shared, over and over. After a snapshot a second life of the process writes a
 * log.
 */
export async function makeHistory(scratch: Scratch, seed: number, writes = 20): Promise<History> {
  const random = seededRandom(seed);
  const live = scratch.next();
  const versions = new Set<string>();
  const first = await open(live, 12, limits, versions);
  await first.state.write((transaction) => {
    for (let at = 0; at < 30; at++) putNamespace(transaction, `unchanged-${at}`, 500);
    // In the middle of their parts, the field that they share has another value.
    for (let at = 10; at < 70; at++) {
      const ID = `still-${at}-${'x'.repeat(90)}`;
      const Status = at < 40 ? 'complete' : 'failed';
      const row = { Namespace: 'default', ID, JobID: 'n', Status, Priority: 1 };
      transaction.table(evaluations).put(row as never);
    }
  });
  while (first.engine.begun === 0) {
    await first.state.write((transaction) => change(transaction, random));
  }
  while (first.engine.snapshots === 0) {
    await new Promise<void>((resolve) => realWorld.timers.soon(resolve));
  }
  await first.state.close();
  const { state } = await open(live, 4_000, {}, versions);
  for (let at = 0; at < writes; at++)
    await state.write((transaction) => change(transaction, random));
  const directory = scratch.copyOf(live);
  const [rows, { index }] = [rowsOf(state.read()), state.read()];
  await state.close();
  return { directory, closed: live, rows, versions, index };
}

async function open(
  directory: string,
  checkpointPages: number,
  given: Partial<StateLimits>,
  versions: Set<string>,
): Promise<{ state: State; engine: SameThreadEngine }> {
  const engine = new SameThreadEngine({ directory, checkpointPages });
  const { timers } = realWorld;
  const state = await openState({ tables: allTables, engine, timers, limits: given });
  state.onCommit((changes) => {
    for (const { table, after } of changes) versions.add(versionOf(table, after));
  });
  return { engine, state };
}

function change(transaction: Transaction, random: Random): void {
  const name = `n${random.below(12)}`;
  const Namespace = 'default';
  for (let at = random.below(4); at >= 0; at--) {
    const ID = `e${random.below(40)}`;
    if (random.below(5) === 0) transaction.table(evaluations).delete('default', Namespace, ID);
    else {
      const row = { Namespace, ID, JobID: name, Status: 'complete', Priority: random.below(9) };
      transaction.table(evaluations).put(row as never);
    }
  }
  if (random.below(3) === 0) {
    const TaskGroups = [{ Name: 'x'.repeat(random.below(300)), Count: random.below(9) }];
    for (const Version of [random.below(3), random.below(3)]) {
      const row = { Namespace, ID: name, Version, TaskGroups, Type: 'service' };
      transaction.table(jobVersions).put(row as never);
    }
  }
  const service = { Namespace, ServiceName: name, ID: 's', JobID: 'j', AllocID: 'a', NodeID: 'b' };
  if (random.below(2) === 0) transaction.table(serviceRegistrations).put(service as never);
  else transaction.table(serviceRegistrations).delete('default', Namespace, name, 's');
  putNamespace(transaction, name, random.below(6_000));
}

function putNamespace(transaction: Transaction, Name: string, length: number): void {
  const Description = 'y'.repeat(length);
  transaction.table(namespaces).put({ Partition: 'default', Name, Description } as never);
}

export async function examined(directory: string): Promise<Examined> {
  const store = new ExaminedStore(directory);
  try {
    const { timers } = realWorld;
    return await examine({ store, name: 'the store', timers, progress: () => {} });
  } finally {
    store.close();
  }
}

export function editFile(directory: string, file: string, edit: (bytes: Buffer) => Buffer): void {
  const path = join(directory, file);
  writeFileSync(path, edit(readFileSync(path)));
}

const versionOf = (table: string, row: unknown): string => `${table} ${JSON.stringify(row)}`;

/** Rows that were read and that never were. */
export function invented(
  { versions }: History,
  { view }: Pick<Examined, 'view'>,
): readonly string[] {
  return [...rowsOf(view)]
    .map(([name, row]) => versionOf(JSON.parse(name)[0], row))
    .filter((version) => !versions.has(version));
}

/** Every row that differs between the state before the damage and the one that was read. */
export function differing(before: Rows, { view }: Pick<Examined, 'view'>): readonly string[] {
  const after = rowsOf(view);
  const names = new Set([...before.keys(), ...after.keys()]);
  const text = (rows: Rows, name: string) => JSON.stringify(rows.get(name));
  return [...names].filter((name) => text(before, name) !== text(after, name));
}

/** The rows that differ and that no loss names. */
export function unnamed(before: Rows, examined: Examined): readonly string[] {
  const { rows, pieces } = examined.losses;
  return differing(before, examined).filter((name) => {
    const [table, key] = JSON.parse(name) as [string, string[]];
    const isNamed = rows.some(
      (row) =>
        row.table === table &&
        (row.key.length === 0 ||
          row.key.every((part, at) => part === undefined || part === key[at])),
    );
    if (isNamed) return false;
    const index = (before.get(name) as { ModifyIndex: number } | undefined)?.ModifyIndex;
    return !pieces.some(({ fromIndex = 0, toIndex = Number.POSITIVE_INFINITY }) =>
      // The index of a deletion is not in the state.
      index === undefined ? fromIndex > 0 : index >= fromIndex && index <= toIndex,
    );
  });
}
