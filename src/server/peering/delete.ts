import { instantFromMs, instantToMs } from '../../base/instant.ts';
import { delay } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { StoredPeering } from '../../model/peering/peering.ts';
import {
  peeringConnections,
  peeringFarewells,
  peeringSecrets,
  peerings,
} from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import { writeEventually } from '../write-eventually.ts';
import {
  noSecrets,
  type Paired,
  type PeeringContext,
  peeringById,
  peeringNamed,
  secretsOf,
  stillPaired,
} from './context.ts';
import { type DialerOptions, dialAny } from './dialer.ts';

/**
 * Marks a peering for deletion, which `removePeering` carries out in the background. `false`: it
 * does not exist or is marked already. An unused token becomes invalid.
 * Source: docs/behaviour/peering.md#deletion.
 */
export function markDeleted(
  { state, world }: PeeringContext,
  partition: string,
  name: string,
): Promise<Written<StoredPeering | undefined>> {
  return state.write((transaction) => {
    const stored = peeringNamed(transaction, partition, name);
    if (stored === undefined || stored.DeletedAt !== 0) return undefined;
    const secrets = secretsOf(transaction, stored.ID);
    transaction.table(peeringSecrets).put({ ...secrets, Establishment: '', Exchanged: '' });
    const DeletedAt = instantFromMs(world.clock.nowMs());
    return transaction.table(peerings).put({ ...stored, State: 'TERMINATED', DeletedAt });
  });
}

/** Handles the peer's goodbye: the peering stays, without secrets, for operators to see. */
export function terminate(transaction: Transaction, paired: Paired): void {
  const { ID: id } = paired;
  const farewells = transaction.table(peeringFarewells);
  if (farewells.delete(id)) transaction.table(peeringSecrets).delete(id);
  const stored = stillPaired(transaction, paired);
  if (stored === undefined) return;
  transaction.table(peeringSecrets).put(noSecrets(id));
  if (stored.State !== 'TERMINATED') {
    transaction.table(peerings).put({ ...stored, State: 'TERMINATED' });
  }
}

/**
 * Carries out the deletion of a peering: tells the peer, removes imported rows, then removes the
 * peering. After a restart it begins again, so every part can be repeated.
 * @param before the work for the peering until now; it goes on until its stream has ended
 */
export async function removePeering(
  options: DialerOptions,
  id: string,
  before: Promise<void> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { context } = options;
  const { state, world, log } = context;
  const peering = peeringById(state.read(), id);
  if (peering === undefined) return;
  const isTold = await tellPeer(options, peering, limits.peering.farewellMs, signal);
  if (signal.aborted) return;
  context.streams.of(id)?.end('the peering is deleted');
  await before;
  await forgetEventually(context, peering, signal);
  if (signal.aborted) return;
  await writeEventually(
    { state, timers: world.timers },
    (transaction) => {
      const stored = peeringById(transaction, id);
      if (stored === undefined || stored.DeletedAt === 0) return;
      transaction.table(peerings).delete(stored.Partition, stored.Name);
      transaction.table(peeringConnections).delete(id);
      const farewells = transaction.table(peeringFarewells);
      const isToHear = !isTold && hasSecret(transaction, id);
      if (isToHear && farewells.size < limits.peering.countMax) farewells.put(stored);
      else transaction.table(peeringSecrets).delete(id);
    },
    signal,
  );
  const { Name: name, Partition: partition } = peering;
  log.info({ peering: name, partition, told: isTold }, 'a peering is deleted');
}

/** Tries to tell the peer of a removed peering, until the peer has heard it or the time is up. */
export async function bidFarewell(
  options: DialerOptions,
  peering: StoredPeering,
  signal: AbortSignal,
): Promise<void> {
  const { state, world, streams } = options.context;
  const { ID: id, DeletedAt } = peering;
  const { farewellKeptMs } = limits.peering;
  const leftMs = instantToMs(DeletedAt) + farewellKeptMs - world.clock.nowMs();
  await tellPeer(options, peering, Math.min(leftMs, farewellKeptMs), signal);
  if (signal.aborted) return;
  streams.of(id)?.end('the peering is deleted');
  const drop = (transaction: Transaction) => dropFarewell(transaction, id);
  await writeEventually({ state, timers: world.timers }, drop, signal);
}

function dropFarewell(transaction: Transaction, id: string): void {
  if (!transaction.table(peeringFarewells).delete(id)) return;
  transaction.table(peeringSecrets).delete(id);
}

/** Stops telling the peer: a new peering with it is about to begin. */
export function dropFarewellsTo(transaction: Transaction, peerId: string): void {
  for (const { ID, PeerID } of [...transaction.table(peeringFarewells).scan()]) {
    if (PeerID === peerId) dropFarewell(transaction, ID);
  }
}

function hasSecret(snapshot: Snapshot, id: string): boolean {
  const { Active, Pending } = secretsOf(snapshot, id);
  return Active !== '' || Pending !== '';
}

/**
 * Says goodbye on the open stream, or on a stream opened for it. `false`: the peer has not heard
 * it; it will be refused when it dials.
 */
async function tellPeer(
  { context, take }: DialerOptions,
  peering: StoredPeering,
  withinMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { streams, state, world } = context;
  const { ID: id, IsDialer } = peering;
  const { retryMinMs, retryMaxMs } = limits.peering;
  const late = new AbortController();
  const timer = world.timers.after(withinMs, () => late.abort());
  const over = AbortSignal.any([signal, late.signal]);
  let pauseMs: number = retryMinMs;
  try {
    while (!over.aborted) {
      if (!hasSecret(state.read(), id)) return false;
      if (streams.of(id) === undefined && IsDialer) {
        const tried = await dialAny(context, peering, '', over);
        if ('wire' in tried) take(peering, tried.wire);
      } else {
        await streams.opened(id, over);
      }
      const stream = streams.of(id);
      if (stream !== undefined) {
        const heard = await Promise.race([stream.sayGoodbye(), aborted(over)]);
        if (heard) return true;
      }
      if (!over.aborted) await delay(world.timers, pauseMs, over);
      pauseMs = Math.min(pauseMs * 2, retryMaxMs);
    }
    return false;
  } finally {
    timer.clear();
  }
}

const aborted = (signal: AbortSignal): Promise<false> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });

/**
 * Removes the rows of the previous peer; then the stream of the new peer may open. If the peering
 * was meanwhile given to yet another cluster, the removal begins again.
 */
export async function renewPeering(
  context: PeeringContext,
  peering: StoredPeering,
  signal: AbortSignal,
): Promise<void> {
  const { state, world, streams } = context;
  const note = (transaction: Transaction) => {
    const stored = peeringById(transaction, peering.ID);
    if (!stored?.MustForget) return;
    transaction.table(peerings).put({ ...stored, MustForget: false });
  };
  do {
    streams.of(peering.ID)?.end('the peering is with another cluster now');
    await forgetEventually(context, peering, signal);
    if (signal.aborted) return;
    await writeEventually({ state, timers: world.timers }, note, signal);
  } while (!signal.aborted && peeringById(state.read(), peering.ID)?.MustForget);
}

/** Removes imported rows; while the state cannot be written it tries again. */
export async function forgetEventually(
  { exchange, world, log }: PeeringContext,
  { Name: name, Partition: partition }: StoredPeering,
  signal: AbortSignal,
): Promise<void> {
  const { retryMinMs, retryMaxMs } = limits.peering;
  for (
    let pauseMs: number = retryMinMs;
    !signal.aborted;
    pauseMs = Math.min(pauseMs * 2, retryMaxMs)
  ) {
    try {
      return await exchange.forget({ partition, name });
    } catch (error) {
      log.warn({ peering: name, error }, 'rows imported from a peer could not be removed yet');
      await delay(world.timers, pauseMs, signal);
    }
  }
}
