import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { Peering, StoredPeering } from './peering.ts';
import { type StreamKnown, stateOf } from './state.ts';

/** Names of what goes to a peer and of what came from it. */
export interface Exchanged {
  readonly imported: readonly string[];
  readonly exported: readonly string[];
}

/** A peering as it is shown, with what its stream does at the moment. */
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
      // Nothing goes to a peer any more with which the peering has ended.
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
