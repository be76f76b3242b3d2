import type { World } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import { StateClock } from '../../state/clock.ts';
import type { Bytes } from '../../state/codec.ts';
import type { Loaded } from '../../state/engine/engine.ts';
import type { RecoverySource } from '../../state/engine/etcd/head.ts';
import type { EtcdRecovery } from '../../state/engine/etcd/recovery.ts';
import { MoveRefusal } from '../../state/errors.ts';
import { viewOf } from '../../state/migrate.ts';
import { clusterIdentity } from '../../state/tables.ts';
import type { View } from '../../state/view.ts';
import { restoreOf } from './restore-of.ts';

export interface Recovering {
  readonly recovery: EtcdRecovery;
  readonly from: RecoverySource;
  readonly world: Pick<World, 'clock' | 'timers'>;
  readonly version: string;
}

export interface Recovered {
  /** Index of the state that goes on. */
  readonly from: number;
  /** Index that it has now. */
  readonly index: number;
  /** Whether another server had recovered the log before. */
  readonly wasRecovered: boolean;
}

/**
 * Lets the servers go on from the state that etcd has, or from the copy that this server has on its disk,
 * after the log has diverged. It is a restore: a single entry of the log, above every index that was given
 * out, and nodes keep for a while what the state does not know. The entry carries a time, as any entry does. That time is
 * not before the time of any entry in etcd or in the copy.
 *
 * @throws StateError
 */
export async function recoverLog({
  recovery,
  from,
  world,
  version,
}: Recovering): Promise<Recovered> {
  const { front, known, copy, isRecovered } = await recovery.open();
  const { head } = front;
  if (isRecovered) {
    if (from === 'disk')
      throw new MoveRefusal(
        `${recovery.name} was recovered already, and has ${head!.index}: this server can only go on from that, with --from etcd`,
      );
    await recovery.follow(front);
    return { from: head!.index, index: head!.index, wasRecovered: true };
  }
  const clock = new StateClock(world.clock);
  const shared = await viewOf(recovery, () => {}, clock);
  const own = copy && (await viewOf({ load: () => partsOf(copy.parts) }, () => {}, clock));
  requireSameCluster(recovery.name, shared, own);
  const rows = from === 'etcd' ? shared : own;
  if (rows === undefined)
    throw new MoveRefusal('this server has no copy of the state on its disk, or it is damaged');
  if (identityIn(rows) === undefined) throw new MoveRefusal(`${recovery.name} holds no state`);
  const before = Math.max(head?.index ?? 0, known.index, own?.index ?? 0);
  const { batch } = await restoreOf(rows, {
    ID: identityIn(rows)!.ID,
    before: shared,
    above: before + limits.snapshot.indexLeap,
    previous: head?.hash ?? '',
    world: { ...world, clock },
    version,
  });
  await recovery.append(batch, front, from);
  return { from: rows.index, index: batch.lastIndex, wasRecovered: false };
}

const identityIn = (view: View) => view.table(clusterIdentity).get('cluster');

/** Another log at a wrong address is neither followed nor written over. */
function requireSameCluster(name: string, shared: View, own: View | undefined): void {
  const [there, here] = [shared, own].map((view) => view && identityIn(view)?.ID);
  if (there === undefined || here === undefined || there === here) return;
  throw new MoveRefusal(
    `${name} has the state of the cluster ${there}, and this server is of the cluster ${here}: check the endpoints and the prefix`,
  );
}

async function* partsOf(parts: AsyncIterable<Bytes>): AsyncGenerator<Loaded> {
  for await (const bytes of parts) yield { kind: 'snapshot-part', bytes };
}
