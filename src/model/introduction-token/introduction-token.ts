import { formatInstant, instantFromMs, instantToMs } from '../../base/instant.ts';
import { type Fault, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { everyNode, poolNameFault } from '../node-pool/node-pool.ts';
import {
  About,
  Hidden,
  type Input,
  Instant,
  type Model,
  Nanoseconds,
  ResponseOnly,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';

/**
 * A token that admits new nodes. Its secret is shown once to its creator; each node shows it at its first
 * registration.
 */
export const IntroductionTokenSchema = Type.Object({
  ID: About('The id of the token; it is not secret.', ResponseOnly(Text())),
  Description: About(
    'The purpose of the token.',
    Text({ maxLength: limits.names.descriptionLengthMax }),
  ),
  NodePool: About('The pool of the admitted nodes; empty: any.', Text()),
  NodeName: About(
    'The name of the admitted nodes, in which `*` stands for any text; empty: any.',
    Text({ maxLength: limits.names.lengthMax }),
  ),
  Uses: About(
    'How many nodes it may admit; 0: any number until it expires.',
    Whole({ default: 1, minimum: 0, maximum: limits.introduction.usesMax }),
  ),
  Used: About('How many nodes it has admitted.', ResponseOnly(Whole())),
  CreateTime: About('The time of its creation.', ResponseOnly(Instant())),
  ExpirationTime: About('The time from which it admits no node.', ResponseOnly(Instant())),
  SecretHash: Hidden(ResponseOnly(Text())),
  ...stamps,
});
export interface IntroductionToken extends Model<typeof IntroductionTokenSchema> {}

export const IntroductionRequestSchema = Type.Object({
  ...IntroductionTokenSchema.properties,
  TTL: About('The lifetime of the token; the default is an hour.', Nanoseconds()),
});
export type IntroductionRequest = Input<Model<typeof IntroductionRequestSchema>>;

/** The token in answers: times are in RFC 3339. */
export const ShownIntroductionSchema = Type.Object({
  ...IntroductionTokenSchema.properties,
  CreateTime: About('The time of its creation.', Text()),
  ExpirationTime: About('The time from which it admits no node.', Text()),
});
export type ShownIntroduction = Omit<Model<typeof ShownIntroductionSchema>, 'SecretHash'>;

/** The answer to the creator of the token, the only one with the secret. */
export const MadeIntroductionSchema = Type.Object({
  ...ShownIntroductionSchema.properties,
  SecretID: About('The secret that a node shows. No other answer has it.', Text()),
});

/** @throws RosterError `invalid-body` with every fault beyond the schema */
export function requireIntroduction(
  { NodePool, NodeName }: Pick<IntroductionToken, 'NodePool' | 'NodeName'>,
  ttl: number,
): void {
  const faults: Fault[] = [];
  const { ttlMinMs, ttlMaxMs } = limits.introduction;
  if (ttl < ttlMinMs * 1e6 || ttl > ttlMaxMs * 1e6) {
    faults.push({ pointer: '/TTL', message: 'TTL must be from one minute to 30 days' });
  }
  const pool = NodePool === '' ? undefined : poolNameFault(NodePool);
  if (pool !== undefined) faults.push({ pointer: '/NodePool', message: `NodePool ${pool}` });
  if (NodePool === everyNode) {
    const message = `NodePool must not be "${everyNode}": no node can be in that pool; leave it out`;
    faults.push({ pointer: '/NodePool', message });
  }
  if (/\p{Cc}/u.test(NodeName)) {
    const message = 'NodeName must not hold control characters';
    faults.push({ pointer: '/NodeName', message });
  }
  if (faults.length > 0) throw invalid('invalid-body', faults);
}

/** The token without the fields that only the server may know. */
export const presentedIntroduction = <T extends IntroductionToken>({
  SecretHash: _,
  ...token
}: T) => ({
  ...token,
  CreateTime: formatInstant(instantToMs(token.CreateTime)),
  ExpirationTime: formatInstant(instantToMs(token.ExpirationTime)),
});

export const isOver = ({ ExpirationTime }: IntroductionToken, nowMs: number): boolean =>
  instantFromMs(nowMs) >= ExpirationTime;

/** The reason that it does not admit a node of that name and pool, as a clause; `undefined` if it does. */
export function introductionFault(
  { Uses, Used, NodePool, NodeName }: IntroductionToken,
  node: { readonly Name: string; readonly NodePool: string },
): string | undefined {
  if (Uses > 0 && Used >= Uses) {
    return Uses === 1 ? 'it has been used already' : `it has been used ${Uses} times already`;
  }
  if (NodePool !== '' && NodePool !== node.NodePool) {
    return `it is for nodes of the pool "${NodePool}", and this one is of "${node.NodePool}"`;
  }
  if (NodeName !== '' && !matches(NodeName, node.Name)) {
    return `it is for nodes that are called "${NodeName}", and this one is called "${node.Name}"`;
  }
  return undefined;
}

/** Without a regular expression, so that no pattern takes long. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return name === pattern;
  if (!name.startsWith(first)) return false;
  const last = rest.pop()!;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
