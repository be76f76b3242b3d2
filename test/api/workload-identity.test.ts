import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { signingKey, signToken } from '../../src/base/signed-token.ts';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf, secretOf } from '../support/fleet.ts';

const errors: unknown[] = [];
const told: unknown[] = [];
let api: TestApi;
let fleet: Fleet;

/** Identity blocks need nodes of this version. */
const recent = { Attributes: { 'kernel.name': 'linux', 'roster.version': '0.1.0' } };

beforeEach(async () => {
  errors.length = 0;
  told.length = 0;
  const note = (fields: object) => void errors.push(fields);
  api = await startApi({
    log: { debug() {}, info() {}, warn: note, error: note },
    audit: { sink: { write: (line) => void told.push(line) }, events: 'all' },
  });
  fleet = new Fleet(api);
  await fleet.join(1, recent);
});
afterEach(() => expect(errors).toEqual([]));

const identities = {
  Identity: { Env: true, File: true, Audience: ['elsewhere'] },
  Identities: [
    {
      Name: 'cloud',
      Audience: ['cloud.example'],
      TTL: 3600e9,
      ExtraClaims: { team: 'a', sub: 'root' },
    },
    { Name: 'api', Audience: ['roster'], TTL: 60e9 },
  ],
};

/** Runs a job; returns the id of its only allocation. */
async function run(changes: object = {}, namespace = 'default'): Promise<string> {
  const body = jobBody(changes, {}, identities);
  const done = await api.call('POST', `/v1/jobs?namespace=${namespace}`, { body });
  expect([done.status, done.json.detail]).toEqual([200, undefined]);
  await api.settle();
  await fleet.obey();
  const id = body.Job.ID;
  const { json } = await api.call('GET', `/v1/job/${id}/allocations?namespace=${namespace}`);
  return json[0].ID;
}

const ask = (Identities: readonly object[], n = 1, token = secretOf(n)) =>
  api.call('PUT', `/v1/node/${idOf(n)}/identities`, { body: { Identities }, token });

async function tokenOf(AllocID: string, Name = 'default'): Promise<string> {
  const { json } = await ask([{ AllocID, Task: 'server', Name }]);
  expect(json.Refused).toEqual([]);
  return json.Identities[0].Token;
}

const claimsOf = (token: string): JWTPayload =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

describe('an identity token', () => {
  test('names the task, and verifies with the published keys', async () => {
    const allocation = await run();
    const { json } = await ask(
      ['default', 'cloud'].map((Name) => ({ AllocID: allocation, Task: 'server', Name })),
    );
    const keys = createLocalJWKSet(
      (await api.call('GET', '/.well-known/jwks.json', { token: null })).json,
    );
    const currentDate = new Date(api.world.clock.nowMs());
    const [own, cloud] = await Promise.all(
      json.Identities.map(
        async ({ Token }: { Token: string }) =>
          (await jwtVerify(Token, keys, { currentDate, algorithms: ['EdDSA'] })).payload,
      ),
    );
    const iat = Math.floor(api.world.clock.nowMs() / 1000);
    const common = {
      nbf: iat,
      iat,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      roster_namespace: 'default',
      roster_job_id: 'web',
      roster_allocation_id: allocation,
      roster_group: 'web',
      roster_task: 'server',
    };
    expect(own).toEqual({
      ...common,
      sub: 'global:default:web:web:server:default',
      aud: ['roster', 'elsewhere'],
      exp: iat + 30 * 86_400,
      roster_identity: 'default',
    });
    expect(cloud).toEqual({
      ...common,
      sub: 'global:default:web:web:server:cloud',
      aud: ['cloud.example'],
      exp: iat + 3600,
      team: 'a',
      roster_identity: 'cloud',
    });
    expect(
      json.Identities.map(({ TTL, ExpirationTime }: Record<string, number>) => [
        TTL,
        ExpirationTime,
      ]),
    ).toEqual([
      [30 * 86_400e9, (iat + 30 * 86_400) * 1e9],
      [3600e9, (iat + 3600) * 1e9],
    ]);
    expect(own.jti).not.toBe(cloud.jti);
  });

  test("of a child names the child's parent", async () => {
    await api.call('POST', '/v1/jobs', {
      body: jobBody({ ID: 'batch', Type: 'batch', ParameterizedJob: {} }, {}, identities),
    });
    await api.call('PUT', '/v1/job/batch/dispatch', { body: {} });
    await api.settle();
    await fleet.obey();
    const { json } = await api.call('GET', '/v1/allocations');
    expect(claimsOf(await tokenOf(json[0].ID)).roster_job_id).toBe('batch');
  });

  test('is given to the node of the allocation only', async () => {
    await fleet.join(1, recent);
    const allocation = await run();
    const [on] = (await api.call('GET', '/v1/allocations')).json;
    const home = on.NodeID === idOf(1) ? 1 : 2;
    const request = { AllocID: allocation, Task: 'server', Name: 'default' };
    expect((await ask([request], home)).json.Identities).toHaveLength(1);
    const foreign = await ask([request], 3 - home);
    expect(foreign.json).toEqual({
      Identities: [],
      Refused: [{ ...request, Reason: 'the node has no such allocation' }],
    });
    for (const token of [secretOf(3 - home), rootToken, 'anything']) {
      expect((await ask([request], home, token)).status).toBe(403);
    }
  });

  test('is given even if others in the request are refused', async () => {
    const AllocID = await run();
    const reasons = [
      [{ AllocID: 'x', Task: 'server', Name: 'default' }, 'the node has no such allocation'],
      [{ AllocID, Task: 'x', Name: 'default' }, 'the allocation has no such task'],
      [{ AllocID, Task: 'server', Name: 'x' }, 'the task has no such identity'],
    ] as const;
    const good = { AllocID, Task: 'server', Name: 'cloud' };
    const { json } = await ask([...reasons.map(([request]) => request), good]);
    expect(json.Refused).toEqual(reasons.map(([request, Reason]) => ({ ...request, Reason })));
    expect(json.Identities).toMatchObject([good]);
    const many = Array.from({ length: 101 }, () => good);
    expect(await ask(many)).toMatchObject({ status: 400, json: { code: 'invalid-body' } });
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    // It may still need time to end.
    expect((await ask([good])).json.Identities).toHaveLength(1);
    await fleet.obey();
    expect((await ask([good])).json.Refused[0].Reason).toBe('the allocation has ended');
  });
});

const write = (path: string, namespace = 'default') =>
  api.call('PUT', `/v1/var/${path}?namespace=${namespace}`, { body: { Items: { k: path } } });
const read = (path: string, token: string, query = '') =>
  api.call('GET', `/v1/var/${path}${query}`, { token });

describe('a workload may', () => {
  test('read and list the variables of its job, group and task', async () => {
    await api.call('PUT', '/v1/namespace/team', { body: {} });
    const token = await tokenOf(await run());
    const paths = [
      'roster/jobs',
      'roster/jobs/web',
      'roster/jobs/web/web',
      'roster/jobs/web/web/server',
    ];
    const others = [
      'roster/jobs/other',
      'roster/jobs/web/web/other',
      'roster/jobs/web/web/server/x',
      'a',
    ];
    for (const path of [...paths, ...others]) await write(path);
    await write('roster/jobs/web', 'team');
    for (const path of paths) expect((await read(path, token)).json.Items).toEqual({ k: path });
    for (const path of others) expect((await read(path, token)).status).toBe(403);
    expect((await read('roster/jobs/web', token, '?namespace=team')).status).toBe(403);
    const listed = await api.call('GET', '/v1/vars?namespace=*', { token });
    expect(listed.json.map(({ Path }: { Path: string }) => Path)).toEqual(paths);
    for (const method of ['PUT', 'DELETE']) {
      const refused = await api.call(method, '/v1/var/roster/jobs/web', {
        token,
        body: { Items: { k: 'v' } },
      });
      expect(refused.status).toBe(403);
    }
  });

  test('read its own allocation, and nothing else of the scheduler', async () => {
    const mine = await run();
    const other = await run({ ID: 'other' });
    const token = await tokenOf(mine);
    const statusOf = async (path: string) => (await api.call('GET', path, { token })).status;
    expect(await statusOf(`/v1/allocation/${mine}`)).toBe(200);
    for (const path of [`/v1/allocation/${other}`, '/v1/job/web', '/v1/jobs', '/v1/nodes']) {
      expect([path, await statusOf(path)]).toEqual([path, 403]);
    }
  });

  test("read its own variables only, even if its job's name looks like a pattern", async () => {
    const token = await tokenOf(await run({ ID: '*' }));
    for (const path of ['roster/jobs/web', 'roster/jobs/x/web']) {
      await write(path);
      expect((await read(path, token)).status).toBe(403);
    }
  });

  test.each([
    [{ JobID: 'web' }, true],
    [{ JobID: 'web', Group: 'web' }, true],
    [{ JobID: 'web', Group: 'web', Task: 'server' }, true],
    [{ JobID: 'web', Group: 'other' }, false],
    [{ JobID: 'web', Group: 'web', Task: 'other' }, false],
    [{ JobID: 'we' }, false],
    [{ JobID: 'web', Namespace: 'team' }, false],
  ])('a policy for %j', async (JobACL, isGiven) => {
    const Rules =
      'namespace "default" { policy = "read" variables { path "a" { capabilities = ["read"] } } }';
    const { policy } = aclOf(api);
    await policy('elsewhere', { Rules, JobACL: { JobID: 'web' }, Datacenters: ['dc9'] });
    await write('a');
    const token = await tokenOf(await run());
    const statuses = async () => {
      const job = await api.call('GET', '/v1/job/web', { token });
      return [(await read('a', token)).status, job.status];
    };
    expect(await statuses()).toEqual([403, 403]);
    const made = await policy('reader', { Rules, JobACL });
    expect(made.JobACL).toEqual({ Namespace: 'default', Group: '', Task: '', ...JobACL });
    expect(await statuses()).toEqual(isGiven ? [200, 200] : [403, 403]);
    const url = '/v1/acl/explain?permission=variable:read&name=a';
    const { json } = await api.call('GET', url, { token });
    const via = json.Rules.map((rule: { Via: string[] }) => rule.Via);
    expect(via).toEqual(isGiven ? [['the token → policy "reader"']] : []);
    await api.call('DELETE', `/v1/acl/policy/${made.ID}`);
    expect(await statuses()).toEqual([403, 403]);
  });

  test('appears in explanations', async () => {
    const token = await tokenOf(await run());
    const asked = (name: string) =>
      api.call('GET', `/v1/acl/explain?permission=variable:read&name=${name}`, { token });
    const yes = (await asked('roster/jobs/web')).json;
    expect(yes).toMatchObject({ Allowed: true, Missing: '' });
    expect(yes.Rules).toMatchObject([
      { Via: ['the token → what every workload may do'], Effect: 'allow' },
    ]);
    expect((await asked('a')).json).toMatchObject({ Allowed: false });
  });

  test('a workload is named in the audit log, without its token', async () => {
    const allocation = await run();
    const token = await tokenOf(allocation);
    await read('a', token);
    const line = JSON.parse(String(told.at(-1)));
    expect(line.caller).toEqual({
      kind: 'workload',
      namespace: 'default',
      job: 'web',
      group: 'web',
      task: 'server',
      allocation,
    });
    expect(told.join('')).not.toContain(token.split('.')[2]);
  });
});

describe('a token is refused', () => {
  test('if it is forged', async () => {
    await write('roster/jobs/web');
    const good = await tokenOf(await run());
    const claims = claimsOf(good);
    const { kid } = JSON.parse(Buffer.from(good.split('.')[0]!, 'base64url').toString());
    const seed = new Uint8Array(32).fill(9);
    const [head, , signature] = good.split('.');
    const changed = Buffer.from(JSON.stringify({ ...claims, roster_job_id: 'x' })).toString(
      'base64url',
    );
    const forged = [
      signToken(claims, signingKey(kid, seed)),
      signToken(claims, signingKey('no-such-key', seed)),
      signToken(claims, signingKey('a\0b', seed)),
      `${head}.${changed}.${signature}`,
      `${good}x`.repeat(20_000),
      'eyJ.a.b',
    ];
    for (const token of forged) {
      expect(await read('roster/jobs/web', token)).toMatchObject({
        status: 403,
        json: { code: 'token-not-found' },
      });
    }
    expect((await read('roster/jobs/web', good)).status).toBe(200);
  });

  test('if its audience is another', async () => {
    await write('roster/jobs/web');
    const allocation = await run();
    expect((await read('roster/jobs/web', await tokenOf(allocation, 'cloud'))).status).toBe(403);
    expect((await read('roster/jobs/web', await tokenOf(allocation, 'api'))).status).toBe(200);
  });

  test('if it has expired, also in a waiting query', async () => {
    const { json } = await write('roster/jobs/web');
    const token = await tokenOf(await run(), 'api');
    const waited = read('roster/jobs/web', token, `?index=${json.ModifyIndex}&wait=80s`);
    await fleet.pass(59_000);
    expect((await read('roster/jobs/web', token)).status).toBe(200);
    await fleet.pass(2000);
    expect((await read('roster/jobs/web', token)).status).toBe(403);
    await fleet.pass(30_000);
    expect((await waited).status).toBe(403);
  });

  test('if its allocation has ended, also in a waiting query, at once', async () => {
    const { json } = await write('roster/jobs/web');
    const token = await tokenOf(await run());
    let status = 0;
    const query = `?index=${json.ModifyIndex}&wait=5m`;
    void read('roster/jobs/web', token, query).then((answer) => {
      status = answer.status;
    });
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    expect([status, (await read('roster/jobs/web', token)).status]).toEqual([0, 200]);
    await fleet.obey();
    expect([status, (await read('roster/jobs/web', token)).status]).toEqual([403, 403]);
  });

  test('after a rotation, old tokens stay valid while their allocation runs, and new ones use the new key', async () => {
    await write('roster/jobs/web');
    const kidOf = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid;
    const kids = async () =>
      (await api.call('GET', '/.well-known/jwks.json')).json.keys.map(
        ({ kid }: { kid: string }) => kid,
      );
    const allocation = await run();
    const old = await tokenOf(allocation);
    await api.call('PUT', '/v1/operator/keyring/rotate');
    await api.call('PUT', '/v1/operator/keyring/rotate');
    const fresh = await tokenOf(allocation);
    expect(kidOf(fresh)).not.toBe(kidOf(old));
    expect(await kids()).toEqual(expect.arrayContaining([kidOf(old), kidOf(fresh)]));
    for (const token of [old, fresh]) {
      expect((await read('roster/jobs/web', token)).status).toBe(200);
    }
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    await fleet.obey();
    await api.call('PUT', '/v1/operator/keyring/rotate');
    expect(await kids()).toHaveLength(1);
    expect(await kids()).not.toContain(kidOf(fresh));
  });

  test('with access control off every caller has all permissions except signing', async () => {
    const open = await startApi({ aclEnabled: false });
    const url = `/v1/node/${idOf(1)}/identities`;
    const asked = await open.call('PUT', url, { body: { Identities: [] }, token: null });
    expect(asked.status).toBe(403);
  });
});

test('a workload has no permissions for tokens, policies and nodes', async () => {
  const token = await tokenOf(await run());
  await aclOf(api).policy('p', { Rules: 'acl = "read"' });
  for (const path of ['/v1/acl/tokens', '/v1/acl/token/self', `/v1/node/${idOf(1)}`]) {
    expect([path, (await api.call('GET', path, { token })).status]).toEqual([path, 403]);
  }
});

test('without an issuer there is no discovery document, but there are keys', async () => {
  const found = await api.call('GET', '/.well-known/openid-configuration', { token: null });
  expect(found).toMatchObject({ status: 404, json: { code: 'issuer-not-set' } });
  const { keys } = (await api.call('GET', '/.well-known/jwks.json', { token: null })).json;
  expect(keys).toMatchObject([{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' }]);
  expect(Object.keys(keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
});
