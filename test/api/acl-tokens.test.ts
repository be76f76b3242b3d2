import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf, anonymousId, callsTo, managementId, nobody, uuid } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});
const { put, get, remove } = callsTo(() => api);

test('a new token has all fields of the contract', async () => {
  const { status, json, headers } = await put('token', { Description: 'ci' });
  expect(status).toBe(200);
  expect(json).toEqual({
    AccessorID: expect.stringMatching(uuid),
    SecretID: expect.stringMatching(uuid),
    Description: 'ci',
    Policies: [],
    Roles: [],
    TemplatedPolicies: [],
    ServiceIdentities: [],
    NodeIdentities: [],
    Local: false,
    AuthMethod: '',
    AuthMethodNamespace: '',
    ExpirationTime: null,
    CreateTime: '2026-01-01T00:00:00Z',
    Hash: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
    Namespace: 'default',
    Partition: 'default',
    CreateIndex: json.CreateIndex,
    ModifyIndex: json.CreateIndex,
  });
  expect(headers['x-registry-index']).toBe(String(json.CreateIndex));
  expect((await get('token/self', json.SecretID)).json).toEqual(json);
  expect((await get(`token/${json.AccessorID.toUpperCase()}`)).json).toEqual(json);
});

test('ids chosen by the caller are accepted', async () => {
  const ids = { AccessorID: nobody, SecretID: '88888888-8888-4888-8888-888888888888' };
  expect((await put('token', ids)).json).toMatchObject(ids);
  expect((await get('token/self', ids.SecretID)).json.AccessorID).toBe(nobody);
});

test('links are made by id or name, are unique and show both; a rename updates them', async () => {
  const { ID } = await acl.policy('ops');
  const role = await acl.role('dev');
  const { json } = await put('token', {
    Policies: [{ Name: 'ops' }, { ID }, { ID, Name: 'other' }],
    Roles: [{ Name: 'dev' }],
  });
  expect(json.Policies).toEqual([{ ID, Name: 'ops' }]);
  expect(json.Roles).toEqual([{ ID: role.ID, Name: 'dev' }]);
  await put(`policy/${ID}`, { Name: 'operators' });
  expect((await get(`token/${json.AccessorID}`)).json.Policies).toEqual([
    { ID, Name: 'operators' },
  ]);
  await remove(`policy/${ID}`);
  expect((await get(`token/${json.AccessorID}`)).json.Policies).toEqual([]);
});

test('identities are merged and sorted, and templates get their ids', async () => {
  const { json } = await put('token', {
    ServiceIdentities: [
      { ServiceName: 'web', Datacenters: ['b'] },
      { ServiceName: 'web', Datacenters: ['a', 'b'] },
      { ServiceName: 'api', Datacenters: ['a'] },
      { ServiceName: 'api' },
    ],
    NodeIdentities: [
      { NodeName: 'n', Datacenter: 'a' },
      { NodeName: 'n', Datacenter: 'a' },
    ],
    TemplatedPolicies: [
      { TemplateName: 'builtin/service', TemplateVariables: { name: 'web' } },
      { TemplateName: 'builtin/dns' },
      { TemplateName: 'builtin/dns' },
    ],
  });
  expect(json.ServiceIdentities).toEqual([
    { ServiceName: 'api', Datacenters: [] },
    { ServiceName: 'web', Datacenters: ['a', 'b'] },
  ]);
  expect(json.NodeIdentities).toEqual([{ NodeName: 'n', Datacenter: 'a' }]);
  expect(json.TemplatedPolicies).toEqual([
    {
      TemplateID: '00000000-0000-0000-0000-000000000005',
      TemplateName: 'builtin/dns',
      TemplateVariables: {},
      Datacenters: [],
    },
    {
      TemplateID: '00000000-0000-0000-0000-000000000003',
      TemplateName: 'builtin/service',
      TemplateVariables: { name: 'web' },
      Datacenters: [],
    },
  ]);
});

const long = 'x'.repeat(257);

describe('a new token is refused with', () => {
  test.each([
    ['an accessor that is no UUID', { AccessorID: 'x' }, '/AccessorID'],
    ['a reserved accessor', { AccessorID: anonymousId }, '/AccessorID'],
    ['a secret that is no UUID', { SecretID: 'x' }, '/SecretID'],
    ['a reserved secret', { SecretID: managementId }, '/SecretID'],
    ['a negative time to live', { ExpirationTTL: '-1m' }, '/ExpirationTTL'],
    ['a time to live that is short', { ExpirationTTL: '59s' }, '/ExpirationTTL'],
    ['a time to live that is long', { ExpirationTTL: '24h1s' }, '/ExpirationTTL'],
    ['an invalid time', { ExpirationTime: 'tomorrow' }, '/ExpirationTime'],
    ['a time in the past', { ExpirationTime: '2020-01-01T00:00:00Z' }, '/ExpirationTime'],
    ['a time that is near', { ExpirationTime: '2026-01-01T00:00:59Z' }, '/ExpirationTime'],
    ['a time that is far', { ExpirationTime: '2026-01-02T00:00:01Z' }, '/ExpirationTime'],
    [
      'both time and time to live',
      { ExpirationTime: '2026-01-01T01:00:00Z', ExpirationTTL: '1h' },
      '/ExpirationTime',
    ],
    ['an auth method', { AuthMethod: 'x' }, '/AuthMethod'],
    ['a policy that is not there', { Policies: [{ Name: 'x' }] }, '/Policies/0'],
    ['a policy id that is not there', { Policies: [{ ID: nobody }] }, '/Policies/0'],
    ['a link to nothing', { Policies: [{}] }, '/Policies/0'],
    ['a role that is not there', { Roles: [{ Name: 'x' }] }, '/Roles/0'],
    ['a service without a name', { ServiceIdentities: [{}] }, '/ServiceIdentities/0/ServiceName'],
    [
      'a service in capitals',
      { ServiceIdentities: [{ ServiceName: 'Web' }] },
      '/ServiceIdentities/0/ServiceName',
    ],
    [
      'a service with a long name',
      { ServiceIdentities: [{ ServiceName: long }] },
      '/ServiceIdentities/0/ServiceName',
    ],
    [
      'a service that ends in a dash',
      { ServiceIdentities: [{ ServiceName: 'web-' }] },
      '/ServiceIdentities/0/ServiceName',
    ],
    [
      'datacenters on a local token',
      { Local: true, ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['a'] }] },
      '/ServiceIdentities/0/Datacenters',
    ],
    [
      'a node without a name',
      { NodeIdentities: [{ Datacenter: 'a' }] },
      '/NodeIdentities/0/NodeName',
    ],
    [
      'a node without a datacenter',
      { NodeIdentities: [{ NodeName: 'n' }] },
      '/NodeIdentities/0/Datacenter',
    ],
    [
      'a node in capitals',
      { NodeIdentities: [{ NodeName: 'N', Datacenter: 'a' }] },
      '/NodeIdentities/0/NodeName',
    ],
    ['a template without a name', { TemplatedPolicies: [{}] }, '/TemplatedPolicies/0/TemplateName'],
    [
      'a template that is not there',
      { TemplatedPolicies: [{ TemplateName: 'builtin/x' }] },
      '/TemplatedPolicies/0/TemplateName',
    ],
    [
      'a template without its variable',
      { TemplatedPolicies: [{ TemplateName: 'builtin/service' }] },
      '/TemplatedPolicies/0/TemplateVariables/name',
    ],
    [
      'a variable that ends the rule',
      {
        TemplatedPolicies: [
          { TemplateName: 'builtin/service', TemplateVariables: { name: 'a" {} acl = "' } },
        ],
      },
      '/TemplatedPolicies/0/TemplateVariables/name',
    ],
    ['an unknown field', { Colour: 'red' }, '/Colour'],
    ['a wrong type', { Local: 'yes' }, '/Local'],
    ['a long description', { Description: 'x'.repeat(1001) }, '/Description'],
  ])('%s', async (_title, body, pointer) => {
    const { status, json } = await put('token', body);
    expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid-body', pointer]);
  });

  test('several faults, reported at once', async () => {
    const { json } = await put('token', {
      AccessorID: 'x',
      ExpirationTTL: '1s',
      Description: 'x'.repeat(1001),
      ServiceIdentities: [{ ServiceName: 'A' }],
      NodeIdentities: [{ NodeName: 'n' }],
    });
    expect(json.errors.map((one: { pointer: string }) => one.pointer)).toEqual([
      '/Description',
      '/AccessorID',
      '/ExpirationTTL',
      '/ServiceIdentities/0/ServiceName',
      '/NodeIdentities/0/Datacenter',
    ]);
  });

  test('an accessor or secret that any token has, in any case', async () => {
    const { AccessorID, SecretID } = await acl.token();
    const letters = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    await acl.token({ AccessorID: letters });
    const other = 'ffffffff-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    for (const [body, field] of [
      [{ AccessorID }, 'AccessorID'],
      [{ AccessorID: SecretID }, 'AccessorID'],
      [{ SecretID }, 'SecretID'],
      [{ SecretID: AccessorID }, 'SecretID'],
      [{ AccessorID: nobody, SecretID: nobody }, 'SecretID'],
      [{ SecretID: letters.toUpperCase() }, 'SecretID'],
      [{ AccessorID: other, SecretID: other.toUpperCase() }, 'SecretID'],
    ] as const) {
      const { status, json, text } = await put('token', body);
      expect([status, json.code]).toEqual([409, 'id-taken']);
      expect(json.detail).toContain(field);
      expect(text).not.toContain(SecretID);
    }
  });

  test('a body that is malformed or missing', async () => {
    expect((await put('token', '{')).json.code).toBe('malformed-json');
    expect((await put('token', undefined)).json.code).toBe('body-required');
  });
});
