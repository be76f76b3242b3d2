import { delay } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { StoredPeering } from '../../model/peering/peering.ts';
import { peerings } from '../../state/tables.ts';
import { type Paired, type PeeringContext, peeringById, stillPaired } from './context.ts';
import { type Opened, openStream, reasonOf } from './dial.ts';
import type { PeeringStream } from './stream.ts';
import type { Wire } from './wire.ts';

export interface DialerOptions {
  readonly context: PeeringContext;
  /** Takes a stream on which both sides have proved who they are. */
  readonly take: (peering: StoredPeering, wire: Wire) => PeeringStream;
}

/**
 * Keeps the stream of a peering open, from its stored row: dials its addresses in turn, beginning
 * with the one that worked last. When all have failed it waits, each time longer. Resolves when
 * `signal` aborts or the peering needs no stream any more.
 */
export async function keepDialling(
  { context, take }: DialerOptions,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { state, streams, world, log } = context;
  const { clock, timers, random } = world;
  const { retryMinMs, retryMaxMs, heartbeatMs } = limits.peering;
  let pauseMs: number = retryMinMs;
  let preferred = '';
  let told = '';
  for (;;) {
    const peering = dialled(state.read(), id);
    if (peering === undefined || signal.aborted) return;
    const { Name: name, Partition: partition } = peering;
    const sinceMs = clock.monotonicMs();
    const tried = await dialAny(context, peering, preferred, signal);
    if (signal.aborted) {
      if ('wire' in tried)
        tried.wire.close('the side that dials closed it: it stops, or dials anew');
      return;
    }
    let reason: string;
    if ('wire' in tried) {
      preferred = tried.address;
      noteAddresses(context, peering, tried.peer.addresses);
      log.info({ peering: name, partition, address: preferred }, 'the stream of a peer is open');
      const stream = take(peering, tried.wire);
      const stop = () => stream.end('the peering begins anew, or this server stops');
      signal.addEventListener('abort', stop, { once: true });
      reason = await stream.ended;
      signal.removeEventListener('abort', stop);
      // A stream that is cut as soon as it is open is no success.
      if (clock.monotonicMs() - sinceMs >= heartbeatMs) pauseMs = retryMinMs;
    } else {
      reason = tried.reason;
      streams.record(id).lastError = reason;
    }
    if (reason !== told && !signal.aborted) {
      log.warn({ peering: name, partition, reason }, 'the stream of a peer is not open');
    }
    told = reason;
    await delay(timers, pauseMs * (0.5 + random.fraction() / 2), signal);
    pauseMs = Math.min(pauseMs * 2, retryMaxMs);
  }
}

function dialled(snapshot: Parameters<typeof peeringById>[0], id: string) {
  const peering = peeringById(snapshot, id);
  const isWanted = peering?.IsDialer && peering.DeletedAt === 0 && peering.State !== 'TERMINATED';
  return isWanted ? peering : undefined;
}

type Tried = (Opened & { readonly address: string }) | { readonly reason: string };

/** Tries each address once. */
export async function dialAny(
  context: PeeringContext,
  peering: StoredPeering,
  preferred: string,
  signal: AbortSignal,
): Promise<Tried> {
  const addresses = peering.PeerServerAddresses ?? [];
  const at = Math.max(addresses.indexOf(preferred), 0);
  const reasons: string[] = [];
  for (const address of [...addresses.slice(at), ...addresses.slice(0, at)]) {
    if (signal.aborted) break;
    const { dialTimeoutMs: timeoutMs } = limits.peering;
    const target = { address, caPems: peering.PeerCAPems ?? [], timeoutMs, signal };
    try {
      return { ...(await openStream(context, target, peering)), address };
    } catch (error) {
      reasons.push(`${address}: ${reasonOf(error)}`);
    }
  }
  return { reason: reasons.join('; ') || 'it has no address' };
}

/** Stores new addresses of the peer's servers. Addresses given by the operator stay first. */
export function noteAddresses(
  { state, log }: PeeringContext,
  paired: Paired,
  addresses: readonly string[],
): void {
  if (addresses.length === 0) return;
  const merged = ({ ManualServerAddresses }: StoredPeering) => [
    ...new Set([...(ManualServerAddresses ?? []), ...addresses]),
  ];
  const isKnown = (peering: StoredPeering | undefined) =>
    peering === undefined ||
    JSON.stringify(peering.PeerServerAddresses) === JSON.stringify(merged(peering));
  if (isKnown(stillPaired(state.read(), paired))) return;
  const written = state.write((transaction) => {
    const peering = stillPaired(transaction, paired);
    if (peering === undefined || isKnown(peering)) return;
    transaction.table(peerings).put({ ...peering, PeerServerAddresses: merged(peering) });
  });
  written.catch((error) => log.warn({ error }, 'the addresses of a peer could not be kept'));
}
