import type { StoredPeering } from '../../model/peering/peering.ts';
import { peeringConnections } from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';
import { type PeeringContext, peeringById } from './context.ts';

/**
 * Writes down whether the stream of a peering is open, to wake readers that wait for the peering.
 * The status shown comes from the stream itself, so a failed write is ignored.
 */
export function noteConnection({ state, streams, log }: PeeringContext, id: string): void {
  const written = state.write((transaction) => {
    const peering = peeringById(transaction, id);
    if (peering !== undefined) put(transaction, peering, streams.known(id).isOpen);
  });
  written.catch((error) => log.debug({ error }, 'the state of a stream could not be written down'));
}

/** After a start no stream is open. */
export function noteNoConnections({ state, log }: PeeringContext): void {
  const isOpen = ({ IsOpen }: { readonly IsOpen: boolean }) => IsOpen;
  const rows = () => state.read().table(peeringConnections).scan();
  if (![...rows()].some(isOpen)) return;
  const written = state.write((transaction) => {
    const table = transaction.table(peeringConnections);
    for (const row of [...table.scan()].filter(isOpen)) table.put({ ...row, IsOpen: false });
  });
  written.catch((error) => log.debug({ error }, 'the state of streams could not be written down'));
}

function put(transaction: Transaction, { ID, Partition, Name }: StoredPeering, IsOpen: boolean) {
  const table = transaction.table(peeringConnections);
  if (table.get(ID)?.IsOpen !== IsOpen) table.put({ ID, Partition, Name, IsOpen });
}

/** Wakes a read when the stream opens or closes. */
export function watchConnection(snapshot: Snapshot, id: string): void {
  snapshot.table(peeringConnections).get(id);
}
