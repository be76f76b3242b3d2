import { beforeAll, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const place of ['namespace/team', 'partition/west']) {
    expect((await api.call('PUT', `/v1/${place}`, { body: {} })).status).toBe(200);
  }
});

const router = {
  Kind: 'service-router',
  Name: 'web',
  Routes: [
    { Match: { HTTP: { PathPrefix: '/a' } }, Destination: { Service: 'api' } },
    { Match: { HTTP: { PathPrefix: '/b' } }, Destination: { Service: 'blog' } },
  ],
};
const defaults = { Kind: 'service-defaults', Name: 'web' };
const mesh = { Kind: 'mesh' };

interface Refused {
  readonly rules: string;
  readonly namespace?: string;
  readonly partition?: string;
  readonly request: readonly [method: string, path: string, body?: object];
  readonly lacks: string;
}

describe('a refusal names the missing permission only', () => {
  test.each<[about: string, refused: Refused]>([
    [
      'of an entry and the services that it names',
      {
        rules: 'service "web" { policy = "write" } service "blog" { policy = "read" }',
        request: ['PUT', '/v1/config', router],
        lacks: 'service:read on "api"',
      },
    ],
    [
      'where the entry itself may not be written',
      {
        rules: 'service_prefix "" { policy = "read" }',
        request: ['PUT', '/v1/config', router],
        lacks: 'service:write on "web"',
      },
    ],
    [
      'where all of it is missing',
      {
        rules: 'node_prefix "" { policy = "read" }',
        request: ['PUT', '/v1/config', router],
        lacks: 'service:write on "web" and service:read on "api" and service:read on "blog"',
      },
    ],
    [
      'with the namespace default, for whom it is another one',
      {
        rules: 'service_prefix "" { policy = "write" }',
        namespace: 'team',
        request: ['PUT', '/v1/config?ns=default', defaults],
        lacks: 'service:write on "web" in the namespace "default"',
      },
    ],
    [
      'of access control, with the namespace as well',
      {
        rules: 'acl = "write"',
        namespace: 'team',
        request: ['GET', '/v1/acl/tokens?ns=default'],
        lacks: 'acl:read in the namespace "default"',
      },
    ],
    [
      'with the partition default, for whom it is another one',
      {
        rules: 'acl = "write"',
        partition: 'west',
        request: ['GET', '/v1/acl/tokens?partition=default'],
        lacks: 'acl:read in the partition "default"',
      },
    ],
    [
      'without a namespace where there is none',
      {
        rules: 'service_prefix "" { policy = "write" }',
        namespace: 'team',
        request: ['PUT', '/v1/config', mesh],
        lacks: 'mesh:write',
      },
    ],
  ])('%s', async (_, { rules, namespace = 'default', partition = 'default', request, lacks }) => {
    const token = await aclOf(api).holder(rules, `?ns=${namespace}&partition=${partition}`);
    const [method, path, body] = request;
    const { status, json } = await api.call(method, path, { token, ...(body && { body }) });
    expect([status, json.detail.replace(/^.* lacks the permission /, '')]).toEqual([
      403,
      `${lacks}.`,
    ]);
  });
});

describe('the mesh', () => {
  const operator = 'operator = "write"';
  test.each([
    [operator, true],
    [`${operator}\nmesh = "deny"`, false],
    [`${operator}\nmesh = "read"`, true],
    ['operator = "deny"\nmesh = "write"', true],
    ['operator = "read"\nmesh = "read"', false],
  ])('%j may write its entries: %s, and the explanation agrees', async (rules, may) => {
    const token = await aclOf(api).holder(rules);
    const put = await api.call('PUT', '/v1/config?dry_run', { token, body: mesh });
    expect(put.status).toBe(may ? 200 : 403);
    const explained = await api.call('GET', '/v1/acl/explain?permission=mesh:write', { token });
    expect(explained.json.Allowed).toBe(may);
    const listed = await api.call('GET', '/v1/exported-services', { token });
    expect(listed.status).toBe(rules.includes('mesh = "deny"') ? 403 : 200);
  });
});
