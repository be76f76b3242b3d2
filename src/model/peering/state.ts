import type { PeeringState, StoredPeering } from './peering.ts';

/** The state of a stream in memory; it is not stored. */
export interface StreamKnown {
  readonly isOpen: boolean;
  /** Unix milliseconds; 0: never. */
  readonly lastHeartbeatMs: number;
  readonly lastReceiveMs: number;
  readonly lastSendMs: number;
  /** The reason of the last failure; empty: it never failed. */
  readonly lastError: string;
}

export const unknownStream: StreamKnown = {
  isOpen: false,
  lastError: '',
  lastHeartbeatMs: 0,
  lastReceiveMs: 0,
  lastSendMs: 0,
};

/**
 * The state of a peering as it is read. Source: docs/behaviour/peering.md#how-states-change.
 *
 *     side that made the token:  (none) -token-> INITIAL -dialled-> ACTIVE <-> FAILING
 *     side that dials:           (none) -establish-> ESTABLISHING -> ACTIVE <-> FAILING
 *     either:                    any -deleted there-> TERMINATED -token, establish-> as from (none)
 *                                any -DELETE-> TERMINATED with DeletedAt -> gone
 */
export function stateOf(
  { State, IsDialer, DeletedAt }: Pick<StoredPeering, 'State' | 'IsDialer' | 'DeletedAt'>,
  { isOpen, lastError }: StreamKnown,
): PeeringState {
  if (DeletedAt !== 0 || State === 'TERMINATED') return 'TERMINATED';
  if (isOpen) return 'ACTIVE';
  // The acceptor was connected before; the dialer may be about to connect for the first time.
  if (State === 'ESTABLISHING') return IsDialer && lastError === '' ? 'ESTABLISHING' : 'FAILING';
  return 'INITIAL';
}

type Standing = Pick<StoredPeering, 'State' | 'IsDialer' | 'DeletedAt' | 'Name'>;

const taken = (name: string, why: string): string =>
  `cannot create peering with name: "${name}"; ${why}`;

/** The reason that no token can be made for the name of a stored peering; `undefined` if it can. */
export function tokenObstacle(stored: Standing | undefined): string | undefined {
  if (stored === undefined) return undefined;
  if (stored.DeletedAt !== 0) return deleting;
  // A peering that the other side ended has nothing to lose.
  if (!stored.IsDialer || stored.State === 'TERMINATED') return undefined;
  return taken(stored.Name, 'there is already an established peering');
}

/** The reason that the name of a stored peering cannot be established; `undefined` if it can. */
export function establishObstacle(stored: Standing | undefined): string | undefined {
  if (stored === undefined) return undefined;
  if (stored.DeletedAt !== 0) return deleting;
  if (stored.IsDialer || stored.State === 'TERMINATED') return undefined;
  return taken(stored.Name, 'there is an existing peering expecting to be dialed');
}

/**
 * The reason that a name cannot be established with a token, because the peering `other` is with the cluster of the
 * token; `undefined` if it can. Each side has a single record of a peering, so `other` would lose its peer, and keep
 * the rows from there.
 */
export function twinObstacle(
  { Name: name, Partition: partition }: Pick<StoredPeering, 'Name' | 'Partition'>,
  other: Pick<StoredPeering, 'Name' | 'Partition' | 'DeletedAt' | 'State'>,
): string | undefined {
  const where = other.Partition === partition ? '' : ` of the partition "${other.Partition}"`;
  const known = `"${other.Name}"${where}`;
  if (other.DeletedAt !== 0) {
    return taken(
      name,
      `that cluster is peered with as ${known}, which is being deleted: try again when it is gone`,
    );
  }
  // A peering that the other side ended has nothing to lose.
  if (other.State === 'TERMINATED') return undefined;
  return taken(
    name,
    `that cluster is peered with already, as ${known}: establish it again under that name, or delete it first`,
  );
}

const deleting = 'failed to write peering: cannot write to peering that is marked for deletion';
