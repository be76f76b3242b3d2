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

/** What brings new nodes in: its secret is shown once, by each node at its first registration. */
export const IntroductionTokenSchema = Type.Object({
  ID: About('Names the token; it is no secret.', ResponseOnly(Text())),
  Description: About('What it is for.', Text({ maxLength: limits.names.descriptionLengthMax })),
  NodePool: About('The pool that its nodes have to be of; empty: any.', Text()),
  NodeName: About(
    'The name that its nodes have to have, in which `*` stands for any text; empty: any.',
    Text({ maxLength: limits.names.lengthMax }),
  ),
  Uses: About(
    'How many nodes it brings in; 0: as many as come while it holds.',
    Whole({ default: 1, minimum: 0, maximum: limits.introduction.usesMax }),
  ),
  Used: About('How many nodes it has brought in.', ResponseOnly(Whole())),
  CreateTime: About('When it was made.', ResponseOnly(Instant())),
  ExpirationTime: About('From then on it brings nobody in.', ResponseOnly(Instant())),
  SecretHash: Hidden(ResponseOnly(Text())),
  ...stamps,
});
export interface IntroductionToken extends Model<typeof IntroductionTokenSchema> {}

export const IntroductionRequestSchema = Type.Object({
  ...IntroductionTokenSchema.properties,
  TTL: About('How long it holds; the default is an hour.', Nanoseconds()),
});
export type IntroductionRequest = Input<Model<typeof IntroductionRequestSchema>>;

/** As it is answered: times in RFC 3339. */
export const ShownIntroductionSchema = Type.Object({
  ...IntroductionTokenSchema.properties,
  CreateTime: About('When it was made.', Text()),
  ExpirationTime: About('From then on it brings nobody in.', Text()),
});
export type ShownIntroduction = Omit<Model<typeof ShownIntroductionSchema>, 'SecretHash'>;

/** The answer to its creator, and nobody else. */
export const MadeIntroductionSchema = Type.Object({
  ...ShownIntroductionSchema.properties,
  SecretID: About('What a node shows. It is told here and nowhere else.', Text()),
});

/** @throws RosterError `invalid-body` with every fault that the schema does not tell. */
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
    const message = `NodePool must not be "${everyNode}", of which no node can be; leave it out`;
    faults.push({ pointer: '/NodePool', message });
  }
  if (/\p{Cc}/u.test(NodeName)) {
    const message = 'NodeName must not hold control characters';
    faults.push({ pointer: '/NodeName', message });
  }
  if (faults.length > 0) throw invalid('invalid-body', faults);
}

/** Without what only the server is to know. */
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

/** Why it does not bring in a node of that name and pool, as a clause; `undefined`: it does. */
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
