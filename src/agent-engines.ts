/** Work on the stores of the state while no agent runs. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { World } from './base/ports.ts';
import { holdDirectory } from './node/directory-lock.ts';
import { findDangling } from './server/snapshots/dangling.ts';
import { type Recovered, recoverLog } from './server/snapshots/recover.ts';
import { writeRepaired } from './server/snapshots/repair.ts';
import { EtcdError } from './state/engine/etcd/client.ts';
import { type EtcdSettings, openOffline, openRecovery, seenIn } from './state/engine/etcd/open.ts';
import { ExaminedStore } from './state/engine/salvage/examined-store.ts';
import { Replacement } from './state/engine/salvage/replace.ts';
import { SqliteOffline } from './state/engine/sqlite-offline.ts';
import { MoveRefusal } from './state/errors.ts';
import { type Migrated, type Migration, migrate } from './state/migrate.ts';
import { type Examined, type Examining, examine } from './state/salvage/examine.ts';
import { fieldFaults } from './state/salvage/field-faults.ts';

interface StoreOptions {
  readonly dataDirectory: string;
  readonly etcd: EtcdSettings;
  readonly world: World;
}

export interface MigrateOptions extends StoreOptions {
  readonly to: 'etcd' | 'sqlite';
  readonly progress: Migration['progress'];
}

export interface MigratedStores extends Migrated {
  readonly from: string;
  readonly to: string;
}

/** Moves the state between a data directory and etcd. @throws StateError */
export async function migrateStores(options: MigrateOptions): Promise<MigratedStores> {
  const { to, dataDirectory, etcd, world, progress } = options;
  const directory = serverDirectory(dataDirectory);
  const embedded = new SqliteOffline(directory);
  const shared = openOffline({ ...etcd, world, report: () => {} });
  const [source, target] = to === 'etcd' ? [embedded, shared] : [shared, embedded];
  try {
    const migrated = await migrate({ source, target, timers: world.timers, progress });
    // The notes are of a log before this one.
    if (to === 'etcd') await rm(seenIn(directory), { force: true });
    return { ...migrated, from: source.name, to: target.name };
  } catch (error) {
    throw named(error, shared.name);
  } finally {
    await embedded.close();
    await shared.close();
  }
}

export interface RecoverOptions extends StoreOptions {
  readonly from: 'etcd' | 'disk';
  readonly version: string;
}

export interface RecoveredStores extends Recovered {
  readonly to: string;
}

/** The way out after the log in etcd has diverged from what the server has known. @throws StateError */
export async function recoverStores(options: RecoverOptions): Promise<RecoveredStores> {
  const { from, dataDirectory, etcd, world, version } = options;
  const directory = serverDirectory(dataDirectory);
  const release = existsSync(directory) ? holdDirectory(directory) : () => {};
  const recovery = openRecovery({ ...etcd, world, directory, report: () => {} });
  try {
    return { ...(await recoverLog({ recovery, from, world, version })), to: recovery.name };
  } catch (error) {
    throw named(error, recovery.name);
  } finally {
    await recovery.close();
    release();
  }
}

export interface CheckOptions extends Pick<Examining, 'progress'> {
  readonly dataDirectory: string;
  readonly world: World;
}

/** The faults of an embedded store, and the rows and pieces that a repair loses. */
export interface StoreReport {
  readonly directory: string;
  readonly index: number;
  readonly rows: number;
  readonly faults: Examined['damage'];
  /** Rows with a field that is at fault. A repair keeps them as they are. */
  readonly faultyRows: Examined['damage'];
  readonly lostRows: Examined['losses']['rows'];
  readonly lostPieces: Examined['losses']['pieces'];
}

/** Reads the whole store of a data directory. @throws StateError */
export async function checkStore(options: CheckOptions): Promise<StoreReport> {
  const directory = serverDirectory(options.dataDirectory);
  return withStore(directory, options, async (examined) => {
    const { view, losses } = examined;
    const dangling = losses.isEmpty ? [] : findDangling(view, losses, true);
    return reportOf(directory, examined, dangling.length);
  });
}

export interface RepairOptions extends CheckOptions {
  /** Whether rows may be lost. Without it a store that has lost rows is left as it is. */
  readonly mayLose: boolean;
  /** Whether the root key is lost, and with it every secret that it seals. */
  readonly isWithoutRootKey: boolean;
  readonly version: string;
}

export interface RepairedStore extends StoreReport {
  /** `undefined`: nothing was changed. */
  readonly repaired?: {
    /** Index of the state that goes on. */
    readonly index: number;
    /** Where the damaged store is. */
    readonly damaged: string;
  };
}

/** Replaces a damaged store by a whole one with all of its rows that are legible. @throws StateError */
export async function repairStore(options: RepairOptions): Promise<RepairedStore> {
  const { world, version, mayLose, isWithoutRootKey } = options;
  const directory = serverDirectory(options.dataDirectory);
  const replacement = new Replacement(directory);
  if (replacement.isInterrupted) replacement.finish();
  return withStore(directory, options, async (examined) => {
    const { view, damage, losses } = examined;
    const isLossy = isWithoutRootKey || !losses.isEmpty;
    const dangling = isLossy ? findDangling(view, losses, !isWithoutRootKey) : [];
    const report = reportOf(directory, examined, dangling.length);
    if (losses.isEmpty ? damage.length === 0 : !mayLose) return report;
    replacement.clear();
    const target = new SqliteOffline(replacement.repaired);
    const from = `the data directory ${directory}`;
    const index = await writeRepaired({
      ...examined,
      dangling,
      world,
      version,
      target,
      from,
    }).finally(() => target.close());
    const { lostRows, lostPieces } = report;
    const lost = losses.isEmpty ? undefined : { lostRows, lostPieces };
    const damaged = replacement.take(world.clock.nowMs(), lost);
    return { ...report, repaired: { index, damaged } };
  });
}

/** Calls `use` while no agent can use the store. */
async function withStore<T>(
  directory: string,
  { world, progress }: CheckOptions,
  use: (examined: Examined) => Promise<T>,
): Promise<T> {
  const store = new ExaminedStore(directory);
  try {
    const name = `the data directory ${directory}`;
    return await use(await examine({ store, name, timers: world.timers, progress }));
  } finally {
    store.close();
  }
}

/** `dangling`: the number of rows of the view that do not go on. */
function reportOf(
  directory: string,
  { view, damage, losses }: Examined,
  dangling: number,
): StoreReport {
  return {
    directory,
    index: view.index,
    rows: [...view.tables.values()].reduce((sum, { size }) => sum + size, -dangling),
    faults: damage,
    faultyRows: fieldFaults(view),
    lostRows: losses.rows,
    lostPieces: losses.pieces,
  };
}

const serverDirectory = (dataDirectory: string): string => join(resolve(dataDirectory), 'server');

/** An error of etcd says which etcd that is. */
function named(error: unknown, name: string): unknown {
  return error instanceof EtcdError ? new MoveRefusal(`${name}: ${error.message}`, error) : error;
}
