import { complete } from '../../model/complete.ts';
import { type Fault, invalid, refusal, withKnown } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { below, faultAt } from '../../model/path.ts';
import {
  type PeeringTokenRequest,
  PeeringTokenRequestSchema,
  type StoredPeering,
  StoredPeeringSchema,
} from '../../model/peering/peering.ts';
import { addressFaults, peeringMetaFaults, peerNameFaults } from '../../model/peering/rules.ts';
import { serverNameOf } from '../../model/peering/secrets.ts';
import { tokenObstacle } from '../../model/peering/state.ts';
import { encodeToken } from '../../model/peering/token.ts';
import type { Input } from '../../model/schema.ts';
import { peeringSecrets, peerings } from '../../state/tables.ts';
import type { Transaction, Written } from '../../state/types.ts';
import { requireRoom } from '../checks.ts';
import {
  identityOf,
  noSecrets,
  type PeeringContext,
  peeringNamed,
  requirePartition,
  secretsOf,
} from './context.ts';

export interface MadeToken {
  readonly token: string;
  readonly peering: StoredPeering;
}

/**
 * Makes a token with which another cluster can peer with this one, once. An unused token made
 * before for the same name becomes invalid; an open stream stays.
 * Source: docs/behaviour/peering.md#secrets-and-handshake.
 * @param known faults in the form of the request
 * @throws RosterError `invalid-body`, `partition-not-found`, `peering-conflict`, `limit-reached`
 */
export async function generateToken(
  context: PeeringContext,
  partition: string,
  given: Input<PeeringTokenRequest>,
  known: readonly Fault[] = [],
): Promise<Written<MadeToken>> {
  const request = complete(PeeringTokenRequestSchema, given);
  const manualAddresses = request.ServerExternalAddresses ?? [];
  const { addresses, caPems } = context.advertised();
  const faults: Fault[] = [
    ...peerNameFaults(request.PeerName, 'generating a new peering token'),
    ...addressFaults(manualAddresses, 'ServerExternalAddresses'),
    ...peeringMetaFaults(request.Meta ?? {}),
  ];
  if (manualAddresses.length === 0 && addresses.length === 0) {
    const at = below(null, 'ServerExternalAddresses');
    const message =
      'is required, since this server has no address that others reach it at: it can also be started with --advertise';
    faults.push(faultAt(at, message));
  }
  const all = withKnown(known, faults);
  if (all.length > 0) throw invalid('invalid-body', all);
  const secret = context.world.secrets.uuid();
  const written = await context.state.write((transaction) => {
    requirePartition(transaction, partition);
    return putAwaited(transaction, context, request, { partition, secret });
  });
  const peering = written.value;
  const token = encodeToken({
    caPems,
    manualAddresses,
    addresses,
    serverName: serverNameOf(identityOf(context.state.read())),
    peerId: peering.ID,
    secret,
    partition,
    datacenter: context.datacenter,
  });
  return { index: written.index, value: { token, peering } };
}

/** The peering that awaits the cluster which has the secret. */
function putAwaited(
  transaction: Transaction,
  { world, box }: PeeringContext,
  { PeerName: Name, Meta }: PeeringTokenRequest,
  { partition, secret }: { readonly partition: string; readonly secret: string },
): StoredPeering {
  const stored = peeringNamed(transaction, partition, Name);
  const obstacle = tokenObstacle(stored);
  if (obstacle !== undefined) throw refusal('peering-conflict', { reason: obstacle });
  const isNew = stored === undefined || stored.State === 'TERMINATED';
  const table = transaction.table(peerings);
  if (stored === undefined) requireRoom('peering', table.size, limits.peering.countMax);
  const ID = stored?.ID ?? world.ids.uuid();
  const fresh = complete(StoredPeeringSchema, { ID, Name, Partition: partition, Meta });
  const row = isNew ? fresh : { ...stored, Meta: Meta ?? stored.Meta };
  const secrets = isNew ? noSecrets(ID) : secretsOf(transaction, ID);
  transaction
    .table(peeringSecrets)
    .put({ ...secrets, Establishment: box.fingerprint(secret), Exchanged: '' });
  return table.put(row);
}
