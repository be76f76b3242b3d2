/** Work on the stores of the state while no agent runs. */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { World } from './base/ports.ts';
import { type Recovered, recoverLog } from './server/snapshots/recover.ts';
import { EtcdError } from './state/engine/etcd/client.ts';
import { type EtcdSettings, openOffline, openRecovery, seenIn } from './state/engine/etcd/open.ts';
import { SqliteOffline } from './state/engine/sqlite-offline.ts';
import { MoveRefusal } from './state/errors.ts';
import { type Migrated, type Migration, migrate } from './state/migrate.ts';

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
  const recovery = openRecovery({ ...etcd, world, directory, report: () => {} });
  try {
    return { ...(await recoverLog({ recovery, from, world, version })), to: recovery.name };
  } catch (error) {
    throw named(error, recovery.name);
  } finally {
    await recovery.close();
  }
}

const serverDirectory = (dataDirectory: string): string => join(resolve(dataDirectory), 'server');

/** An error of etcd says which etcd that is. */
function named(error: unknown, name: string): unknown {
  return error instanceof EtcdError ? new MoveRefusal(`${name}: ${error.message}`, error) : error;
}
