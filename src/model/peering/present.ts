import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { Peering, StoredPeering } from './peering.ts';
import { type StreamKnown, stateOf } from './state.ts';

/** Names of the services for a peer and of the services from it. */
export interface Exchanged {
  readonly imported: readonly string[];
  readonly exported: readonly string[];
}

/** A peering as it is shown, with the present state of its stream. */
export function presentedPeering(
  stored: StoredPeering,
  stream: StreamKnown,
  { imported, exported }: Exchanged,
): Peering {
  const { ID, Name, Partition, PeerID, DeletedAt, Meta, Remote } = stored;
  const State = stateOf(stored, stream);
  return {
    ID,
    Name,
    State,
    Partition,
    ...(PeerID !== '' && { PeerID }),
    PeerServerName: stored.PeerServerName,
    PeerServerAddresses: stored.PeerServerAddresses ?? [],
    PeerCAPems: stored.PeerCAPems,
    StreamStatus: {
      ImportedServices: imported.length === 0 ? null : [...imported],
      // A peer that ended the peering gets no services any more.
      ExportedServices: State === 'TERMINATED' ? [] : [...exported],
      LastHeartbeat: instantOrNull(stream.lastHeartbeatMs),
      LastReceive: instantOrNull(stream.lastReceiveMs),
      LastSend: instantOrNull(stream.lastSendMs),
      LastError: stream.lastError,
    },
    Meta,
    Remote,
    DeletedAt: instantOrNull(instantToMs(DeletedAt)),
    CreateIndex: stored.CreateIndex,
    ModifyIndex: stored.ModifyIndex,
  };
}

const instantOrNull = (unixMs: number): string | null =>
  unixMs === 0 ? null : formatInstant(unixMs);
