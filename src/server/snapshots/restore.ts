import { instantFromMs } from '../../base/instant.ts';
import { isBuiltinPolicy } from '../../model/acl-policy/builtin.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Restored, RestoreRecord } from '../../model/snapshot/restore-record.ts';
import type { SnapshotHeader } from '../../model/snapshot/snapshot-header.ts';
import { NotLeading } from '../../state/errors.ts';
import {
  aclPolicies,
  aclRoles,
  authMethods,
  clusterIdentity,
  clusterVersions,
  configEntries,
  jobPolicies,
  jobs,
  keyringKeys,
  peerings,
  variables,
} from '../../state/tables.ts';
import type { Snapshot, TableDefinition, Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { type Keyring, WrongRootKey } from '../keyring/keyring.ts';
import { becomeAnotherCluster } from './another-cluster.ts';
import { receiveSnapshot } from './receive.ts';

export interface RestoreOptions {
  /** Id of the cluster whose state may be replaced; empty: only an empty state may. */
  readonly force: string;
  /** Whether the cluster takes the id of the cluster of the snapshot. */
  readonly isSameCluster: boolean;
}

/**
 * Restores snapshots.
 *
 * Invariants
 *  R1. Nothing changes before the whole file was read, its checksum is right, its tables and versions are
 *      known, and the root key of this server opens its keyring.
 *  R2. A restore is a single entry of the log (`State.restore`): it is done whole or not at all, and is
 *      durable before its answer.
 *  R3. Its index is above every index that this log has given out. If the snapshot is not of this log, or is
 *      newer than it, its cluster may have given out later ones; then the index leaps.
 *  R4. Under another id than that of its own cluster, a state has no node and no peering of that cluster.
 */
export class SnapshotRestorer {
  readonly #context: ServerContext;
  readonly #keyring: Keyring;
  #isRestoring = false;

  constructor(context: ServerContext, keyring: Keyring) {
    this.#context = context;
    this.#keyring = keyring;
  }

  /**
   * Another server than the leader reads nothing of the file.
   *
   * @throws NotLeading, RosterError `restore-under-way`, `state-not-empty`, `snapshot-of-another-root-key`, and those of
   * `receiveSnapshot`
   */
  async restore(pieces: AsyncIterable<Uint8Array>, options: RestoreOptions): Promise<Restored> {
    const { state } = this.#context;
    if (state.leading === undefined) throw state.closed ?? new NotLeading();
    if (this.#isRestoring) throw refusal('restore-under-way');
    this.#isRestoring = true;
    try {
      return await this.#restore(pieces, options);
    } finally {
      this.#isRestoring = false;
    }
  }

  async #restore(pieces: AsyncIterable<Uint8Array>, options: RestoreOptions): Promise<Restored> {
    const { state, world, log } = this.#context;
    requireReplaceable(state.read(), options);
    const { header, draft, file } = await receiveSnapshot(this.#context, pieces);
    this.#requireRootKey(draft.rows());
    const { index, value } = await state.restore({
      draft,
      file,
      above: indexBefore(state.read(), header),
      run: (transaction, before) => {
        requireReplaceable(before, options);
        const nowMs = world.clock.nowMs();
        const ID = options.isSameCluster ? header.ClusterID : identityIn(before).ID;
        const record = recordOf(transaction, before, header, nowMs);
        transaction.table(clusterIdentity).put({ ID, Restore: record });
        if (ID !== header.ClusterID) becomeAnotherCluster(transaction, world);
        keepVersion(transaction, before);
        return { ClusterID: ID, Restore: record };
      },
    });
    log.warn(
      { index, cluster: value.ClusterID, snapshot: header.Index },
      'the state was restored from a snapshot',
    );
    return { Index: index, ...value };
  }

  #requireRootKey(rows: Snapshot): void {
    try {
      this.#keyring.requireOpens(rows.table(keyringKeys).scan());
    } catch (error) {
      if (error instanceof WrongRootKey) throw refusal('snapshot-of-another-root-key');
      throw error;
    }
  }
}

/** The form in which the servers write the state is theirs, not that of the snapshot. */
function keepVersion(transaction: Transaction, before: Snapshot): void {
  const row = before.table(clusterVersions).get('version');
  const table = transaction.table(clusterVersions);
  if (row === undefined) table.delete('version');
  else table.put(row);
}

const identityIn = (snapshot: Snapshot) => snapshot.table(clusterIdentity).get('cluster')!;

/** R3. */
function indexBefore(snapshot: Snapshot, { ClusterID, Index }: SnapshotHeader): number {
  const isOwn = identityIn(snapshot).ID === ClusterID && Index <= snapshot.index;
  return isOwn ? snapshot.index : Math.max(Index, snapshot.index) + limits.snapshot.indexLeap;
}

/** What the state remembers of a restore of the snapshot. */
export function recordOf(
  transaction: Transaction,
  before: Snapshot,
  header: SnapshotHeader,
  nowMs: number,
): RestoreRecord {
  const generations = [before, transaction].map(
    (snapshot) => identityIn(snapshot as Snapshot)?.Restore?.Generation ?? 0,
  );
  return {
    Generation: Math.max(...generations) + 1,
    Index: transaction.index,
    Time: instantFromMs(nowMs),
    UnknownUntil: instantFromMs(nowMs + limits.snapshot.unknownGraceMs),
    SnapshotClusterID: header.ClusterID,
    SnapshotIndex: header.Index,
    SnapshotTime: header.CreateTime,
  };
}

/** Tables in which people write. A state without rows in them is empty. */
const written: readonly (readonly [noun: string, table: TableDefinition])[] = [
  ['jobs', jobs],
  ['variables', variables],
  ['policies', aclPolicies],
  ['roles', aclRoles],
  ['auth methods', authMethods],
  ['job policies', jobPolicies],
  ['configuration entries', configEntries],
  ['peerings', peerings],
] as unknown as readonly (readonly [string, TableDefinition])[];

function countWritten(snapshot: Snapshot, table: TableDefinition): number {
  const rows = snapshot.table(table);
  if (table.name !== aclPolicies.name) return rows.size;
  const policies = snapshot.table(aclPolicies).scan();
  return [...policies].filter(({ ID }) => !isBuiltinPolicy(ID)).length;
}

/** @throws RosterError `state-not-empty`, `other-cluster-named` */
function requireReplaceable(snapshot: Snapshot, { force }: RestoreOptions): void {
  const cluster = identityIn(snapshot).ID;
  if (force !== '' && force !== cluster) throw refusal('other-cluster-named', { force, cluster });
  if (force === cluster) return;
  const held = written
    .map(([noun, table]) => [countWritten(snapshot, table), noun] as const)
    .filter(([size]) => size > 0);
  if (held.length === 0) return;
  const contents = held.map(([size, noun]) => `${noun} (${size})`).join(', ');
  throw refusal('state-not-empty', { cluster, contents });
}
