import { beforeEach, expect, test } from 'vitest';
import { forged, signingPair } from '../../src/server/login/login.test-helper.ts';
import { aclOf, managementId } from '../support/acl.ts';
import { introduction, nodeBody, rootToken, startApi, type TestApi } from '../support/api.ts';
import { certificate } from '../support/certificate.ts';
import { type Known, type Operation, operationsOf } from '../support/fuzz.ts';
import { fuzz, gone } from '../support/fuzz-api.ts';

const runsPerOperation = 400;

let api: TestApi;
let operations: readonly Operation[];
let known: Known;

beforeEach(begin);

async function begin(): Promise<void> {
  api = await startApi();
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  const { json } = await api.call('GET', '/v1/openapi.json');
  const isAsked = (path: string) =>
    /^\/v1\/(acl|acl-templated|internal\/acl|namespaces?|partitions?|operator\/keyring)\b/.test(
      path,
    );
  operations = operationsOf(json, isAsked);
  known = await furnished();
}

async function put(path: string, body: object) {
  const { json, status, text } = await api.call('PUT', `/v1/${path}`, { body });
  expect(status, text).toBe(200);
  return json;
}

const Rules = 'acl = "read"\nservice_prefix "" { policy = "write" intentions = "write" }';
const policy = { Name: 'team/web', Description: 'd', Rules, Datacenters: ['dc1'] };
const identities = {
  ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc1'] }],
  NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }],
  TemplatedPolicies: [
    { TemplateName: 'builtin/service', TemplateVariables: { name: 'web' } },
    { TemplateName: 'builtin/dns' },
  ],
};

/** Creates a policy, a role with it, and tokens with both. */
async function createTokens() {
  const { ID: policyId } = await put('acl/policy', policy);
  const role = { Name: 'ops', Description: 'd', Policies: [{ ID: policyId }], ...identities };
  const { ID: roleId } = await put('acl/role', role);
  const token = {
    Description: 'd',
    Policies: [{ Name: 'team/web' }],
    Roles: [{ ID: roleId }],
    ...identities,
    Local: false,
  };
  const { AccessorID: accessor } = await put('acl/token', token);
  const { AccessorID: mortal } = await put('acl/token', { ...token, ExpirationTTL: '1h' });
  return { policyId, role, roleId, token, accessor, mortal };
}

/** Creates auth methods and a binding rule. */
async function createLogins() {
  const { pem } = await signingPair('ES256', 'k');
  const Config = {
    JWTValidationPubKeys: [pem],
    BoundAudiences: ['a'],
    BoundIssuer: 'i',
    ClaimMappings: { team: 'team' },
    ListClaimMappings: { groups: 'groups' },
    ExpirationLeeway: '1s',
    NotBeforeLeeway: 1,
    ClockSkewLeeway: '-1s',
  };
  const method = {
    Name: 'ci',
    Type: 'jwt',
    Description: 'd',
    DisplayName: 'CI',
    MaxTokenTTL: '5m',
    Config,
    NamespaceRules: [{ Selector: 'value.team == dev', BindNamespace: '${value.team}' }],
  };
  const cluster = {
    Name: 'k8s',
    Type: 'kubernetes',
    Config: {
      Host: 'https://127.0.0.1:1',
      CACert: certificate,
      ServiceAccountJWT: `${forged({ alg: 'RS256' }, { sub: 'reviewer' })}c2ln`,
    },
  };
  await put('acl/auth-method', method);
  await put('acl/auth-method', cluster);
  const rule = {
    AuthMethod: 'ci',
    Selector: '"dev" in list.groups',
    BindType: 'templated-policy',
    BindName: 'builtin/service',
    BindVars: { Name: '${value.team}' },
  };
  const { ID: ruleId } = await put('acl/binding-rule', rule);
  return { method, cluster, rule, ruleId };
}

/** Creates linked records of each noun, and returns their names and bodies for the requests. */
async function furnished(): Promise<Known> {
  const tokens = await createTokens();
  const logins = await createLogins();
  const namespace = {
    Name: 'dev',
    Description: 'd',
    Meta: { a: 'b' },
    Capabilities: { EnabledTaskDrivers: ['raw_exec'] },
    ACLs: {
      PolicyDefaults: [{ ID: tokens.policyId }],
      RoleDefaults: [{ Name: 'ops' }],
    },
  };
  await put('namespace', namespace);
  await put('partition', { Name: 'eu' });
  const { holder } = aclOf(api);
  return {
    ...namesOf(tokens, logins.ruleId),
    bodies: bodiesOf(tokens, logins, namespace),
    secrets: [
      rootToken,
      null,
      'x',
      introduction,
      nodeBody().SecretID,
      await holder('acl = "read"'),
      await holder('namespace "dev" { acl = "write" }'),
    ],
  };
}

type Tokens = Awaited<ReturnType<typeof createTokens>>;
type Logins = Awaited<ReturnType<typeof createLogins>>;

function namesOf({ policyId, roleId, accessor, mortal }: Tokens, ruleId: string) {
  return {
    paths: {
      accessor_id: [accessor, mortal, accessor.toUpperCase(), 'self'],
      policy_id: [policyId, managementId, roleId],
      role_id: [roleId, policyId],
      rule_id: [ruleId],
      '/v1/acl/policy/name/{name}': ['team/web', 'global-management'],
      '/v1/acl/role/name/{name}': ['ops', 'team/web'],
      '/v1/acl/auth-method/{name}': ['ci', 'k8s'],
      '/v1/namespace/{name}': ['dev', 'default', 'new'],
      '/v1/partition/{name}': ['eu', 'default', 'new'],
      name: ['builtin/service', 'builtin/dns', 'builtin/nothing'],
    },
    texts: {
      Name: ['team/web', 'ops', 'ci', 'web', 'dev', 'new', 'global-management'],
      ID: [policyId, roleId, managementId],
      Rules: [Rules, '{"acl": "read"}', 'namespace "dev" { policy = "read" }'],
      Selector: ['', 'value.team == dev', '"a" in list.groups'],
      BindName: ['web', '${value.team}', 'builtin/service', 'team/web'],
      BindNamespace: ['default', '${value.team}'],
      AuthMethod: ['ci', 'k8s'],
      TemplateName: ['builtin/service', 'builtin/dns'],
      ServiceName: ['web', 'api'],
      NodeName: ['n'],
      Datacenter: ['dc1', 'dc2'],
      Datacenters: ['dc1', 'dc2'],
      Namespace: ['', 'default', 'dev'],
      Partition: ['', 'default', 'eu'],
      Resource: [
        'acl',
        'service',
        'identity',
        'key',
        'namespace',
        'management',
        'node',
        'intention',
      ],
      Access: ['read', 'write', 'list', 'submit-job', 'write-prefix', ''],
      ExpirationTTL: ['10m'],
      MaxTokenTTL: ['10m'],
      ns: ['default', 'dev', '*'],
      namespace: ['default', 'dev', '*'],
      partition: ['eu'],
      policy: [policyId],
      role: [roleId],
      servicename: ['web'],
      authmethod: ['ci'],
      'authmethod-ns': ['default', '*'],
      accessor: [accessor, mortal],
      permission: ['acl:read', 'service:write', 'management', 'namespace:submit-job', 'node:read'],
      filter: ['Name == ops', 'Policies is not empty', '"web" in ServiceIdentities'],
      prefix: [accessor.slice(0, 2), '0'],
    },
  };
}

function bodiesOf({ role, token, accessor }: Tokens, logins: Logins, namespace: object) {
  const { method, cluster, rule } = logins;
  const login = { AuthMethod: 'ci', BearerToken: 'a.b.c', Meta: { a: 'b' } };
  return {
    'PUT /v1/acl/policy': [{ ...policy, Name: 'other' }],
    'PUT /v1/acl/policy/{policy_id}': [policy],
    'PUT /v1/acl/role': [{ ...role, Name: 'other' }],
    'PUT /v1/acl/role/{role_id}': [role],
    'PUT /v1/acl/token': [token, { ExpirationTTL: '10m' }],
    'PUT /v1/acl/token/{accessor_id}': [token],
    'PUT /v1/acl/token/{accessor_id}/clone': [{}, { Description: 'clone' }],
    'PUT /v1/acl/auth-method': [
      { ...method, Name: 'other' },
      { ...cluster, Name: 'another' },
    ],
    'PUT /v1/acl/auth-method/{name}': [{ ...method, Name: '' }, { Config: cluster.Config }],
    'PUT /v1/acl/binding-rule': [rule, { ...rule, BindType: 'service', BindVars: null }],
    'PUT /v1/acl/binding-rule/{rule_id}': [rule],
    'PUT /v1/acl/bootstrap': [{}, { BootstrapSecret: accessor }],
    'POST /v1/acl/login': [login],
    'POST /v1/acl/oidc/auth-url': [
      { AuthMethod: 'ci', RedirectURI: 'http://localhost/', ClientNonce: 'n' },
    ],
    'POST /v1/acl/oidc/callback': [{ AuthMethod: 'ci', State: 's', Code: 'c', ClientNonce: 'n' }],
    'POST /v1/acl/templated-policy/preview/{name}': [{ Name: 'web' }, {}],
    'POST /v1/acl-templated/preview/{name}': [{ Name: 'web' }, {}],
    'POST /v1/internal/acl/authorize': [[{ Resource: 'acl', Access: 'read' }], []],
    ...Object.fromEntries(
      ['PUT', 'POST'].flatMap((verb) => [
        [`${verb} /v1/namespace`, [namespace]],
        [`${verb} /v1/namespace/{name}`, [{ Description: 'x' }]],
        [`${verb} /v1/partition`, [{ Name: 'eu' }]],
        [`${verb} /v1/partition/{name}`, [{ Description: 'x' }]],
      ]),
    ),
  };
}

/** These need a credential or work once; other tests cover them. */
const neverDone = [
  'PUT /v1/acl/bootstrap',
  'POST /v1/acl/login',
  'POST /v1/acl/logout',
  'POST /v1/acl/oidc/auth-url',
  'POST /v1/acl/oidc/callback',
];

test('no request, valid or invalid, is answered with a 500', async () => {
  expect(operations.length).toBeGreaterThan(50);
  const shallow: string[] = [];
  for (const operation of operations) {
    const name = `${operation.method} ${operation.path}`;
    // One operation deletes the records that the next needs.
    await begin();
    const seen = await fuzz(api, operation, known, runsPerOperation);
    const [done, refused] = [seen.has(200), [...seen.keys()].some((status) => status >= 400)];
    // An operation that never passes the first check, or is never refused, shows little.
    if ((!done && !neverDone.includes(name)) || !refused) shallow.push(name);
    expect(seen.get(gone) ?? 0).toBeLessThan(runsPerOperation / 2);
  }
  expect(shallow).toEqual([]);
}, 180_000);

test('the fuzzer finds a bug deep in a write', async () => {
  const { box } = api.server.context;
  Object.assign(box, {
    seal: () => {
      throw new TypeError('broken');
    },
  });
  const create = operations.find(
    ({ method, path }) => method === 'PUT' && path === '/v1/acl/auth-method',
  )!;
  await expect(fuzz(api, create, known, runsPerOperation)).rejects.toThrow('gives a 500');
});

test('the fuzzer finds an answer that violates its schema', async () => {
  const list = operations.find(({ path }) => path === '/v1/acl/roles')!;
  const answer = { ...list.answer, items: { ...list.answer.items, required: ['Colour'] } };
  await expect(fuzz(api, { ...list, answer }, known, runsPerOperation)).rejects.toThrow(
    'does not allow',
  );
});
