/** A resolver that remembers decides as a new one would, on whatever snapshot and connection it is asked. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { rootKeyBox } from '../base/secret-box.ts';
import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import { policyHash } from '../model/acl-policy/write.ts';
import { anonymousAccessorId, managementPolicyId } from '../model/acl-token/acl-token.ts';
import { RosterError } from '../model/errors.ts';
import { namespaceCapability, resourceAccess } from '../model/permission/permission.ts';
import { memoryState } from '../state/state.test-helper.ts';
import {
  aclPolicies,
  aclRoles,
  aclTokens,
  allTables,
  inScope,
  namespaces,
} from '../state/tables.ts';
import type { Snapshot, State, Transaction } from '../state/types.ts';
import type { Authorizer } from './authorizer.ts';
import { Resolver } from './resolve.ts';

const accessors = ['one', 'two', anonymousAccessorId] as const;
const policyIds = ['p1', 'p2', managementPolicyId] as const;
const roleIds = ['r1', 'r2'] as const;
const spaces = ['default', 'team'] as const;
const rules = [
  '',
  'operator = "read"',
  'operator = "deny"',
  'namespace "team" { policy = "write" }',
  'namespace "*" { capabilities = ["submit-job"] }\noperator = "write"',
] as const;
const questions = [
  resourceAccess('operator', 'read'),
  resourceAccess('operator', 'write'),
  ...spaces.map((space) => namespaceCapability(space, 'submit-job')),
  ...spaces.map((space) => namespaceCapability(space, 'read-job')),
];

const anyOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
const someOf = <T>(values: readonly T[]) => fc.subarray([...values]);
const holder = { policies: someOf(policyIds), services: someOf(['web', 'db']) };

const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('policy' as const),
      id: anyOf(policyIds),
      text: anyOf(rules),
      datacenters: anyOf([null, null, ['dc1'], ['dc2']]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('no policy' as const), id: anyOf(policyIds) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('role' as const), id: anyOf(roleIds), ...holder }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('no role' as const), id: anyOf(roleIds) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('token' as const),
      id: anyOf(accessors),
      roles: someOf(roleIds),
      secret: anyOf(['first', 'first', 'second']),
      lifeMs: anyOf([0, 0, 50]),
      namespace: anyOf(spaces),
      ...holder,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('no token' as const), id: anyOf(accessors) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('namespace' as const),
      id: anyOf(spaces),
      policies: someOf(policyIds),
      roles: someOf(roleIds),
    }),
  },
);

const step = fc.oneof(
  { weight: 4, arbitrary: change },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('later' as const), ms: fc.nat(60) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      secret: anyOf([
        undefined,
        ...accessors.flatMap((id) => [`first of ${id}`, `second of ${id}`]),
      ]),
      connection: fc.option(fc.nat(1), { nil: undefined }),
      /** How many snapshots ago; most ask on the newest. */
      age: anyOf([0, 0, 0, 1, 2]),
    }),
  },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const box = rootKeyBox(new Uint8Array(32), new SimulatedWorld(1).secrets);
const linked = (ids: readonly string[]) => ids.map((ID) => ({ ID, Name: ID }));
const home = { Namespace: 'default', Partition: 'default' };
const homeScope = { namespace: 'default', partition: 'default' };
const identitiesOf = (services: readonly string[]) => ({
  ServiceIdentities: services.map((ServiceName) => ({ ServiceName, Datacenters: [] })),
  NodeIdentities: [],
  TemplatedPolicies: [],
});

/** An id belongs to one namespace for ever: the server makes the ids of policies. */
const scopeOf = (policy: string) => ({
  ...homeScope,
  namespace: policy === 'p2' ? 'team' : 'default',
});

const roleScope = (id: string) => ({ ...homeScope, namespace: id === 'r2' ? 'team' : 'default' });

function deleteToken(transaction: Transaction, id: string): void {
  const table = transaction.table(aclTokens);
  const [row] = table.by('accessor').scan({ prefix: [id] });
  if (row !== undefined) table.delete(...aclTokens.key(row));
}

type OfKind<K> = Extract<Change, { readonly kind: K }>;
type Makers = {
  readonly [K in Change['kind']]: (
    transaction: Transaction,
    made: OfKind<K>,
    nowMs: number,
  ) => void;
};

const makers: Makers = {
  policy: (transaction, { id, text, datacenters }) => {
    const content = {
      Name: id,
      Description: '',
      Rules: text,
      Datacenters: datacenters,
      JobACL: null,
    } satisfies Partial<AclPolicy>;
    const row = { ID: id, ...content, ...home, Namespace: scopeOf(id).namespace };
    transaction.table(aclPolicies).put({ ...row, Hash: policyHash(content) });
  },
  'no policy': (transaction, { id }) => {
    transaction.table(aclPolicies).delete(...inScope(scopeOf(id), id));
  },
  role: (transaction, { id, policies, services }) => {
    const row = { ID: id, Name: id, Description: '', Hash: '', Policies: linked(policies) };
    const place = { ...home, Namespace: roleScope(id).namespace };
    transaction.table(aclRoles).put({ ...row, ...identitiesOf(services), ...place });
  },
  'no role': (transaction, { id }) => {
    transaction.table(aclRoles).delete(...inScope(roleScope(id), id));
  },
  token: (transaction, { id, secret, policies, roles, services, lifeMs, namespace }, nowMs) => {
    deleteToken(transaction, id);
    transaction.table(aclTokens).put({
      AccessorID: id,
      SecretSealed: '',
      SecretHash: box.fingerprint(`${secret} of ${id}`),
      Description: '',
      Policies: linked(policies),
      Roles: linked(roles),
      ...identitiesOf(services),
      Local: false,
      Hash: '',
      AuthMethod: '',
      AuthMethodNamespace: '',
      ExpirationTime: lifeMs === 0 ? 0 : nowMs + lifeMs,
      CreateTime: 0,
      ...home,
      Namespace: namespace,
    });
  },
  'no token': (transaction, { id }) => {
    const [row] = transaction
      .table(aclTokens)
      .by('accessor')
      .scan({ prefix: [id] });
    if (row !== undefined) transaction.table(aclTokens).delete(...aclTokens.key(row));
  },
  namespace: (transaction, { id, policies, roles }) => {
    transaction.table(namespaces).put({
      Name: id,
      Partition: 'default',
      Description: '',
      Meta: null,
      Capabilities: null,
      ACLs: { PolicyDefaults: linked(policies), RoleDefaults: linked(roles) },
    });
  },
};

function make<K extends Change['kind']>(
  transaction: Transaction,
  made: OfKind<K>,
  nowMs: number,
): void {
  makers[made.kind as K](transaction, made, nowMs);
}

/** All that a caller may do; the code of the refusal of an unknown one. */
function decided(ask: () => Authorizer): unknown {
  try {
    const authorizer = ask();
    return [authorizer.caller, questions.map((permission) => authorizer.allows(permission))];
  } catch (thrown) {
    if (!(thrown instanceof RosterError)) throw thrown;
    return thrown.code;
  }
}

async function live(steps: readonly Step[]): Promise<void> {
  const world = new SimulatedWorld(1);
  const state: State = await memoryState(allTables, world);
  const options = { enabled: true, secrets: world.secrets, box, clock: world.clock };
  const resolver = new Resolver(options);
  const connections = [{}, {}];
  const snapshots: Snapshot[] = [state.read()];
  for (const one of steps) {
    if (one.kind === 'later') await world.advance(one.ms);
    else if (one.kind === 'ask') {
      const snapshot = snapshots.at(-1 - one.age) ?? snapshots[0]!;
      const connection = one.connection === undefined ? undefined : connections[one.connection];
      const found = decided(() => resolver.resolve(snapshot, one.secret, connection));
      expect(found).toEqual(decided(() => new Resolver(options).resolve(snapshot, one.secret)));
    } else {
      await state.write((transaction) => make(transaction, one, world.clock.nowMs()));
      snapshots.push(state.read());
    }
  }
}

test('a resolver that remembers decides as a new one does', async () => {
  const lives = fc.array(step, { minLength: 5, maxLength: 60, size: 'max' });
  await fc.assert(fc.asyncProperty(lives, live), { numRuns: 800 });
}, 90_000);
