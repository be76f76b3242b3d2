import { durationMs } from '../../base/duration.ts';
import { instantFromMs } from '../../base/instant.ts';
import type { World } from '../../base/ports.ts';
import { complete } from '../../model/complete.ts';
import { refusal } from '../../model/errors.ts';
import {
  type IntroductionRequest,
  type IntroductionToken,
  IntroductionTokenSchema,
  introductionFault,
  isOver,
  requireIntroduction,
} from '../../model/introduction-token/introduction-token.ts';
import { limits } from '../../model/limits.ts';
import { introductionTokens } from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import { requireRoom } from '../checks.ts';
import type { ServerContext } from '../context.ts';

export type MadeIntroduction = IntroductionToken & { readonly SecretID: string };

/**
 * Makes a token with which nodes may register for the first time. Only a fingerprint of its secret
 * is stored.
 * @throws RosterError `invalid-body`, `limit-reached`
 */
export async function introduce(
  { state, world }: ServerContext,
  { TTL, ...request }: IntroductionRequest,
): Promise<Written<MadeIntroduction>> {
  const ttl = TTL || limits.introduction.ttlDefaultMs * 1e6;
  const { Description, NodePool, NodeName, Uses } = complete(IntroductionTokenSchema, request);
  requireIntroduction({ NodePool, NodeName }, ttl);
  const SecretID = world.secrets.uuid();
  const { index, value } = await state.write((transaction) => {
    const table = transaction.table(introductionTokens);
    requireRoom('introduction token', table.size, limits.introduction.countMax);
    const nowMs = world.clock.nowMs();
    return table.put({
      ID: world.ids.uuid(),
      Description,
      NodePool,
      NodeName,
      Uses,
      Used: 0,
      CreateTime: instantFromMs(nowMs),
      ExpirationTime: instantFromMs(nowMs + durationMs(ttl)),
      SecretHash: world.secrets.hash(SecretID),
    });
  });
  return { index, value: { ...value, SecretID } };
}

/** Nodes that registered with it stay. @throws RosterError `introduction-token-not-found` */
export async function revokeIntroduction(
  { state }: ServerContext,
  id: string,
): Promise<Written<boolean>> {
  return state.write((transaction) => {
    requireIntroductionToken(transaction, id);
    return transaction.table(introductionTokens).delete(id);
  });
}

/** @throws RosterError `introduction-token-not-found` */
export function requireIntroductionToken(snapshot: Snapshot, id: string): IntroductionToken {
  const found = snapshot.table(introductionTokens).get(id);
  if (found === undefined) throw refusal('introduction-token-not-found', { id });
  return found;
}

/** Counts a node that registers with the token. @throws RosterError `introduction-refused` */
export function useIntroduction(
  transaction: Transaction,
  world: Pick<World, 'clock'>,
  id: string,
  node: { readonly Name: string; readonly NodePool: string },
): void {
  const table = transaction.table(introductionTokens);
  const token = table.get(id);
  if (token === undefined || isOver(token, world.clock.nowMs())) {
    throw refusal('introduction-refused', { id, reason: 'it has ended' });
  }
  const reason = introductionFault(token, node);
  if (reason !== undefined) throw refusal('introduction-refused', { id, reason });
  table.put({ ...token, Used: token.Used + 1 });
}

/** Makes the token for the node in the agent of this server, or of another server of the cluster. */
export const ownIntroduction = (context: ServerContext) => async (): Promise<string> => {
  const request = { Description: 'of the node in the same agent', Uses: 1 };
  const { value } = await introduce(context, request);
  return value.SecretID;
};
