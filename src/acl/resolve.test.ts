import { beforeEach, describe, expect, it } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { rootKeyBox } from '../base/secret-box.ts';
import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import { contentHash } from '../model/acl-policy/content-hash.ts';
import type { AclRole } from '../model/acl-role/acl-role.ts';
import type { AclToken } from '../model/acl-token/acl-token.ts';
import {
  namedAccess,
  namespaceCapability,
  resourceAccess,
} from '../model/permission/permission.ts';
import { memoryState } from '../state/state.test-helper.ts';
import {
  aclPolicies,
  aclRoles,
  aclTokens,
  allTables,
  inScope,
  namespaces,
} from '../state/tables.ts';
import type { State } from '../state/types.ts';
import { Resolver } from './resolve.ts';

const place = { Namespace: 'default', Partition: 'default' };
const scope = { namespace: 'default', partition: 'default' };
const noIdentities = { ServiceIdentities: [], NodeIdentities: [], TemplatedPolicies: [] };
const submit = namespaceCapability('default', 'submit-job');
const readOperator = resourceAccess('operator', 'read');

let world: SimulatedWorld;
let state: State;
let resolver: Resolver;
const box = rootKeyBox(new Uint8Array(32), new SimulatedWorld(1).secrets);

beforeEach(async () => {
  world = new SimulatedWorld(1);
  state = await memoryState(allTables, world);
  resolver = new Resolver({
    enabled: true,
    secrets: world.secrets,
    box,
    clock: world.clock,
  });
});

const policy = (ID: string, Rules: string, changes: Partial<AclPolicy> = {}) =>
  state.write((transaction) => {
    const row = {
      ID,
      Name: ID,
      Description: '',
      Rules,
      Datacenters: null,
      JobACL: null,
      ...place,
      ...changes,
    };
    transaction.table(aclPolicies).put({ ...row, Hash: contentHash([row.Rules]) });
  });

const role = (ID: string, changes: Partial<AclRole>) =>
  state.write((transaction) => {
    const row = { ID, Name: ID, Description: '', Policies: [], Hash: '', ...noIdentities };
    transaction.table(aclRoles).put({ ...row, ...place, ...changes });
  });

const token = (AccessorID: string, changes: Partial<AclToken>) =>
  state.write((transaction) => {
    transaction.table(aclTokens).put({
      AccessorID,
      SecretSealed: '',
      SecretHash: box.fingerprint(`secret of ${AccessorID}`),
      Description: '',
      Policies: [],
      Roles: [],
      ...noIdentities,
      Local: false,
      Hash: '',
      AuthMethod: '',
      AuthMethodNamespace: '',
      ExpirationTime: 0,
      CreateTime: 0,
      ...place,
      ...changes,
    });
  });

const resolve = (accessor: string) => resolver.resolve(state.read(), `secret of ${accessor}`);

describe('resolving a secret', () => {
  it('refuses an unknown and an expired secret', async () => {
    await token('t', { ExpirationTime: world.clock.nowMs() + 1000 });
    expect(resolve('t').caller).toMatchObject({ kind: 'token', accessor: 't' });
    expect(() => resolve('nobody')).toThrow(/unknown here or has expired/);
    await world.advance(1000);
    expect(() => resolve('t')).toThrow(/unknown here or has expired/);
  });

  it('gives callers without a secret the policies of the anonymous token', async () => {
    const anonymous = () => resolver.resolve(state.read(), undefined);
    expect(anonymous().allows(readOperator)).toBe(false);
    await policy('p', 'operator = "read"');
    await token('00000000-0000-0000-0000-000000000002', { Policies: [{ ID: 'p' }] });
    expect(anonymous().allows(readOperator)).toBe(true);
    expect(anonymous().caller.kind).toBe('anonymous');
  });

  it('finds on a kept connection, in any order of secrets, whom it finds without one', async () => {
    for (const accessor of ['a', 'b']) await token(accessor, {});
    const signed = 'eyJhbGciOiJFZERTQSJ9.e30.c2ln';
    const secrets = ['secret of a', 'secret of b', 'unknown', signed, undefined];
    const connection = {};
    const found = (secret: string | undefined, on?: object) => {
      try {
        return resolver.resolve(state.read(), secret, on).caller;
      } catch (error) {
        return (error as Error).message;
      }
    };
    // Each secret follows each other one, and itself.
    const inTurn = secrets.flatMap((left) => secrets.flatMap((right) => [left, right]));
    const before = inTurn.map((secret) => [secret, found(secret, connection), found(secret)]);
    for (const [, kept, fresh] of before) expect(kept).toEqual(fresh);
    await state.write((rows) => rows.table(aclTokens).delete(...inScope(scope, 'a')));
    for (const secret of inTurn) expect(found(secret, connection)).toEqual(found(secret));
    expect(found('secret of a', connection)).toMatch(/unknown here or has expired/);
  });

  it('allows everything when access control is off', () => {
    const off = new Resolver({
      enabled: false,
      secrets: world.secrets,
      box,
      clock: world.clock,
    });
    for (const secret of [undefined, 'unknown']) {
      const { caller, allows } = off.resolve(state.read(), secret);
      expect(caller.kind).toBe('unrestricted');
      expect([allows({ kind: 'management' }), allows(submit)]).toEqual([true, true]);
    }
  });
});

describe('the policies of a token', () => {
  const linked: readonly [string, Partial<AclToken>][] = [
    ['a policy of its own', { Policies: [{ ID: 'p' }] }],
    ['a policy of its role', { Roles: [{ ID: 'r' }] }],
    ['a service identity', { ServiceIdentities: [{ ServiceName: 'web', Datacenters: [] }] }],
    ["a role's templated policy", { Roles: [{ ID: 'templated' }] }],
    ['the defaults of its namespace', { Namespace: 'team' }],
  ];
  it.each(linked)('include %s', async (_, changes) => {
    const { Namespace: namespace = 'default' } = changes;
    await policy('p', `namespace "${namespace}" { service "web" { policy = "write" } }`);
    await role('r', { Policies: [{ ID: 'p' }] });
    const templated = { TemplateID: '', TemplateName: 'builtin/service', Datacenters: [] };
    const TemplatedPolicies = [{ ...templated, TemplateVariables: { name: 'web' } }];
    await role('templated', { TemplatedPolicies });
    await state.write((transaction) => {
      transaction.table(namespaces).put({
        Name: 'team',
        Partition: 'default',
        Description: '',
        Meta: null,
        Capabilities: null,
        ACLs: { PolicyDefaults: [{ ID: 'p', Name: '' }], RoleDefaults: [] },
      });
    });
    await token('t', changes);
    const { allows } = resolve('t');
    expect(allows(namedAccess('service', 'write', 'web', { namespace }))).toBe(true);
    expect(allows(namedAccess('service', 'write', 'other', { namespace }))).toBe(false);
  });

  it('override the defaults of its namespace', async () => {
    await policy('own', 'service "web" { policy = "read" }');
    await policy('given', 'service "web" { policy = "write" }\nkey "a" { policy = "read" }');
    await state.write((transaction) => {
      transaction.table(namespaces).put({
        Name: 'default',
        Partition: 'default',
        Description: '',
        Meta: null,
        Capabilities: null,
        ACLs: { PolicyDefaults: [{ ID: 'given', Name: '' }], RoleDefaults: [] },
      });
    });
    await token('t', { Policies: [{ ID: 'own' }] });
    expect(resolve('t').allows(namedAccess('service', 'write', 'web'))).toBe(false);
    expect(resolve('t').allows(namedAccess('service', 'read', 'web'))).toBe(true);
    expect(resolve('t').allows(namedAccess('key', 'read', 'a'))).toBe(true);
  });

  it('exclude policies of other datacenters', async () => {
    await policy('here', 'operator = "read"', { Datacenters: ['dc1'] });
    await policy('there', 'operator = "write"', { Datacenters: ['dc2'] });
    await token('t', { Policies: [{ ID: 'there' }, { ID: 'here' }] });
    expect(resolve('t').allows(readOperator)).toBe(true);
    expect(resolve('t').allows(resourceAccess('operator', 'write'))).toBe(false);
  });

  it('allow everything with the management policy, except where a narrower rule allows less', async () => {
    const ID = '00000000-0000-0000-0000-000000000001';
    await policy(ID, 'operator = "write"');
    await policy('narrow', 'namespace "prod" { policy = "read" }');
    await role('admin', { Policies: [{ ID }] });
    await token('t', { Roles: [{ ID: 'admin' }], Policies: [{ ID: 'narrow' }] });
    const { allows } = resolve('t');
    expect(allows({ kind: 'management' })).toBe(true);
    expect(allows(namespaceCapability('anywhere', 'of-a-later-version'))).toBe(true);
    expect(allows(namedAccess('variable', 'destroy', 'a/b', { namespace: 'x' }))).toBe(true);
    expect(allows(namespaceCapability('prod', 'read-job'))).toBe(true);
    expect(allows(namespaceCapability('prod', 'submit-job'))).toBe(false);
  });
});

describe('a revocation', () => {
  const revocations: readonly [string, () => Promise<unknown>][] = [
    ['the policy has other rules', () => policy('p', 'operator = "deny"')],
    [
      'the policy is deleted',
      () =>
        state.write((transaction) => transaction.table(aclPolicies).delete(...inScope(scope, 'p'))),
    ],
    ['the role is linked to nothing', () => role('r', {})],
    [
      'the role is deleted',
      () =>
        state.write((transaction) => transaction.table(aclRoles).delete(...inScope(scope, 'r'))),
    ],
    ['the token is linked to nothing', () => token('t', {})],
  ];
  it.each(revocations)('takes effect with the commit: %s', async (_, revoke) => {
    await policy('p', 'operator = "read"');
    await role('r', { Policies: [{ ID: 'p' }] });
    await token('t', { Roles: [{ ID: 'r' }] });
    expect(resolve('t').allows(readOperator)).toBe(true);
    await revoke();
    expect(resolve('t').allows(readOperator)).toBe(false);
  });

  it('leaves other compiled rules in place, which tokens with the same policies share', async () => {
    await policy('p', 'operator = "read"');
    await token('t', { Policies: [{ ID: 'p' }] });
    await token('other', { Policies: [{ ID: 'p' }] });
    const before = resolve('t');
    await token('third', {});
    expect(resolve('t')).toBe(before);
    expect(resolve('other').rules).toBe(before.rules);
  });
});
