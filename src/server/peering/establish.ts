import { delay } from '../../base/ports.ts';
import { complete } from '../../model/complete.ts';
import { type Fault, invalid, refusal, withKnown } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { below, faultAt } from '../../model/path.ts';
import {
  type EstablishRequest,
  EstablishRequestSchema,
  type StoredPeering,
  StoredPeeringSchema,
} from '../../model/peering/peering.ts';
import { peeringMetaFaults, peerNameFaults } from '../../model/peering/rules.ts';
import { serverNameOf } from '../../model/peering/secrets.ts';
import { establishObstacle, twinObstacle } from '../../model/peering/state.ts';
import { decodeToken, type PeeringToken, TokenFault } from '../../model/peering/token.ts';
import type { Input } from '../../model/schema.ts';
import { peeringSecrets, peerings } from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import { requireRoom } from '../checks.ts';
import { writeEventually } from '../write-eventually.ts';
import {
  fresh,
  identityOf,
  isOfAnother,
  noSecrets,
  type PeeringContext,
  peeringNamed,
  requirePartition,
  secretsOf,
} from './context.ts';
import { dropFarewellsTo } from './delete.ts';
import { reasonOf, refusedAs, tellSecret } from './dial.ts';

export interface EstablishOptions {
  readonly signal: AbortSignal;
  /** Faults in the form of the request. */
  readonly known: readonly Fault[];
  /**
   * Resolves when it is this request's turn with the peering of the other cluster. Until the
   * request calls the returned function, other requests and goodbyes wait.
   */
  readonly begin: (peerId: string) => Promise<() => void>;
}

/**
 * Peers with the cluster that made the token: exchanges its secret there, and stores the peering.
 * The stream opens in the background. A peering can be established again under its own name, with a
 * fresh token. Source: docs/behaviour/peering.md#secrets-and-handshake.
 * @param known faults in the form of the request
 * @throws RosterError `invalid-body`, `partition-not-found`, `peering-conflict`, `limit-reached`,
 *   `peering-token-refused`, `peer-unreachable`
 */
export async function establish(
  context: PeeringContext,
  partition: string,
  given: Input<EstablishRequest>,
  { signal, known, begin }: EstablishOptions,
): Promise<Written<StoredPeering>> {
  const { state, world } = context;
  const endMs = world.clock.monotonicMs() + limits.peering.establishTimeoutMs;
  const request = complete(EstablishRequestSchema, given);
  const token = checked(context, request, known);
  const { PeerName: name, Meta } = request;
  const wanted = { partition, name, token };
  // A goodbye sent after the exchange would end the new peering. And of two exchanges, both sides
  // have to keep the secret of the last one.
  const release = await begin(token.peerId);
  try {
    // Checked before the secret is exchanged, and again when the peering is stored.
    const id = admitted(context, state.head(), wanted)?.ID ?? world.ids.uuid();
    const streamSecret = fresh(context);
    await useUp(context, token, { id, partition, streamSecret }, { endMs, signal });
    const write = (transaction: Transaction): Written<StoredPeering> => {
      const stored = admitted(context, transaction, wanted);
      const row = { ...wanted, stored, ID: stored?.ID ?? id, Meta };
      dropFarewellsTo(transaction, token.peerId);
      const value = putDialled(transaction, context, row, streamSecret);
      return { index: transaction.index, value };
    };
    // If the write failed, a repeated request would be told that the token is used.
    return await writeEventually({ state, timers: world.timers }, write, signal);
  } finally {
    release();
  }
}

function checked(
  { state }: PeeringContext,
  { PeerName, PeeringToken: text, Meta }: EstablishRequest,
  known: readonly Fault[],
): PeeringToken {
  const faults = [
    ...peerNameFaults(PeerName, 'establishing a peering'),
    ...peeringMetaFaults(Meta ?? {}),
  ];
  const tell = (message: string) => faults.push(faultAt(below(null, 'PeeringToken'), message));
  let token: PeeringToken | undefined;
  if (text === '') tell('is required in the payload when establishing a peering');
  else {
    try {
      token = decodeToken(text);
    } catch (error) {
      if (!(error instanceof TokenFault)) throw error;
      tell(`cannot be used: ${error.message}`);
    }
  }
  if (token?.serverName === serverNameOf(identityOf(state.read()))) {
    tell(`cannot create a peering within the same cluster "${token.serverName}"`);
  }
  const all = withKnown(known, faults);
  if (token === undefined || all.length > 0) throw invalid('invalid-body', all);
  return token;
}

/** The peering that a request asks for. */
interface Wanted {
  readonly partition: string;
  readonly name: string;
  readonly token: PeeringToken;
}

/** The existing peering with the name, if the token may establish it again. */
function admitted(
  context: PeeringContext,
  snapshot: Snapshot,
  wanted: Wanted,
): StoredPeering | undefined {
  const { partition, name } = wanted;
  requirePartition(snapshot, partition);
  const stored = peeringNamed(snapshot, partition, name);
  const obstacle = establishObstacle(stored) ?? twinInTheWay(context, snapshot, wanted);
  if (obstacle !== undefined) throw refusal('peering-conflict', { reason: obstacle });
  if (stored === undefined) {
    requireRoom('peering', snapshot.table(peerings).size, limits.peering.countMax);
  }
  return stored;
}

/**
 * Why the peering that the token is for stands in the way under another name.
 * @throws RosterError `peering-token-refused`: this token was used to establish it
 */
function twinInTheWay(
  { box }: PeeringContext,
  snapshot: Snapshot,
  { partition, name, token: { peerId, serverName, secret } }: Wanted,
): string | undefined {
  for (const one of snapshot.table(peerings).scan()) {
    if (one.PeerID !== peerId || one.PeerServerName !== serverName) continue;
    if (one.Name === name && one.Partition === partition) continue;
    const obstacle = twinObstacle({ Name: name, Partition: partition }, one);
    if (obstacle === undefined) continue;
    const isUsed = secretsOf(snapshot, one.ID).Exchanged === box.fingerprint(secret);
    if (isUsed) throw refusal('peering-token-refused');
    return obstacle;
  }
  return undefined;
}

/** Tries every address, again and again, until the time is up. */
async function useUp(
  context: PeeringContext,
  token: PeeringToken,
  { id, partition, streamSecret }: Readonly<Record<'id' | 'partition' | 'streamSecret', string>>,
  { endMs, signal }: { readonly endMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { state, datacenter, world } = context;
  const { clock, timers, random } = world;
  const { dialTimeoutMs, retryMinMs } = limits.peering;
  const serverName = serverNameOf(identityOf(state.read()));
  const self = { id, serverName, datacenter, partition, addresses: [] };
  const reasons = new Map<string, string>();
  const addresses = [...new Set([...token.manualAddresses, ...token.addresses])];
  while (!signal.aborted) {
    for (const address of addresses) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) break;
      const timeoutMs = Math.min(dialTimeoutMs, leftMs);
      const target = { address, caPems: token.caPems, timeoutMs, signal };
      try {
        await tellSecret(context, target, token, { streamSecret, self });
        return;
      } catch (error) {
        if (refusedAs(error, 'secret')) throw refusal('peering-token-refused');
        reasons.set(address, reasonOf(error));
      }
    }
    const pauseMs = retryMinMs * (0.5 + random.fraction());
    if (clock.monotonicMs() + pauseMs >= endMs) break;
    await delay(timers, pauseMs, signal);
  }
  const told = [...reasons].map(([address, reason]) => `${address}: ${reason}`);
  const untried = signal.aborted ? 'this server stops' : 'another request tried all the time';
  throw refusal('peer-unreachable', { reason: told.join('; ') || untried });
}

interface Dialled extends Wanted {
  readonly stored: StoredPeering | undefined;
  readonly ID: string;
  readonly Meta: EstablishRequest['Meta'];
}

function putDialled(
  transaction: Transaction,
  { box }: PeeringContext,
  { stored, ID, partition, name, token, Meta }: Dialled,
  streamSecret: string,
): StoredPeering {
  const { manualAddresses, addresses, caPems, peerId, serverName } = token;
  const secrets = { Exchanged: box.fingerprint(token.secret), Active: box.seal(streamSecret) };
  transaction.table(peeringSecrets).put({ ...noSecrets(ID), ...secrets });
  const row = complete(StoredPeeringSchema, {
    ID,
    Name: name,
    Partition: partition,
    State: 'ESTABLISHING',
    IsDialer: true,
    PeerID: peerId,
    PeerServerName: serverName,
    PeerCAPems: [...caPems],
    PeerServerAddresses: [...new Set([...manualAddresses, ...addresses])],
    ManualServerAddresses: [...manualAddresses],
    Remote: { Partition: token.partition, Datacenter: token.datacenter },
    Meta: Meta ?? stored?.Meta ?? null,
    Epoch: (stored?.Epoch ?? 0) + 1,
    MustForget: isOfAnother(stored, peerId),
  });
  return transaction.table(peerings).put(row);
}
