/** Questions about intentions. Source: docs/behaviour/intentions.md#asking-about-intentions. */
import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
  await intentions('web', [
    { Name: 'api', Action: 'allow' },
    { Name: 'old', Action: 'deny', Peer: 'east' },
    { Name: '*', Namespace: '*', Action: 'deny' },
    { Name: 'report', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/r' } }] },
  ]);
  await intentions('*', [{ Name: 'api', Action: 'deny' }]);
});

async function intentions(Name: string, Sources: readonly object[], query = '') {
  // Permissions need a service known to use HTTP.
  if (Name !== '*') {
    await api.call('PUT', `/v1/config${query}`, {
      body: { Kind: 'service-defaults', Name, Protocol: 'http' },
    });
  }
  const body = { Kind: 'service-intentions', Name, Sources };
  expect((await api.call('PUT', `/v1/config${query}`, { body })).text).toBe('true');
}
const ask = (question: string, token?: string | null) =>
  api.call('GET', `/v1/connect/intentions/${question}`, { ...(token !== undefined && { token }) });

describe('check', () => {
  test.each([
    ['source=api&destination=web', true, 9],
    ['source=job&destination=web', false, 7],
    ['source=shop/api&destination=web', false, 7],
    ['source=old&destination=web&source_peer=east', false, 9],
    ['source=new&destination=web&source_peer=east', false, undefined],
    ['source=api&destination=db', false, 6],
    ['source=job&destination=db', false, undefined],
    ['source=api&destination=default/default/web', true, 9],
    ['source=api&destination=web&ns=shop', false, undefined],
    ['source=report&destination=web', false, 9],
    ['source=report&destination=web&path=/r/1&method=post&header=a:%20b', true, 9],
    ['source=report&destination=web&path=/x', false, 9],
  ])('%s', async (query, allowed, precedence) => {
    const { status, json } = await ask(`check?${query}`);
    expect(status).toBe(200);
    expect([json.Allowed, json.Intention?.Precedence]).toEqual([allowed, precedence]);
    expect(json.Reason).toContain(allowed ? 'allows' : precedence === 9 ? '' : 'denies');
    expect(json.DefaultAllow).toBe(false);
  });

  test.each([
    '',
    'source=api',
    'source=*&destination=web',
    'source=a&destination=',
    'source=a/b/c/d&destination=web',
    'source=a&destination=web&header=x',
  ])('%j is a malformed question', async (query) => {
    expect((await ask(`check?${query}`)).json).toMatchObject({
      status: 400,
      code: 'invalid-query',
    });
  });

  test('without a matching intention, the default policy decides; without access control: allowed', async () => {
    for (const options of [{ aclDefaultPolicy: 'allow' as const }, { aclEnabled: false }]) {
      api = await startApi(options);
      const { json } = await ask('check?source=a&destination=b', null);
      expect(json).toMatchObject({ Allowed: true, DefaultAllow: true, Intention: null });
    }
  });

  test('needs intention:read on the destination', async () => {
    const reader = await aclOf(api).holder('service "web" { policy = "read" }');
    const nobody = await aclOf(api).holder('service "api" { policy = "write" }');
    expect((await ask('check?source=api&destination=web', reader)).status).toBe(200);
    expect((await ask('check?source=api&destination=web', nobody)).status).toBe(403);
    expect((await ask('match?by=destination&name=web&name=api', reader)).status).toBe(403);
  });
});

describe('match', () => {
  const found = async (query: string) => {
    const { json } = await ask(`match?${query}`);
    const shown =
      Object.entries<{ Precedence: number; SourceName: string; DestinationName: string }[]>(json);
    return Object.fromEntries(
      shown.map(([name, all]) => [
        name,
        all.map((one) => `${one.Precedence} ${one.SourceName}>${one.DestinationName}`),
      ]),
    );
  };

  test('by destination: possible callers, by precedence', async () => {
    expect(await found('by=destination&name=web&name=db')).toEqual({
      web: ['9 api>web', '9 old>web', '9 report>web', '7 *>web', '6 api>*'],
      db: ['6 api>*'],
    });
  });

  test('by source: services that it may call', async () => {
    expect(await found('by=source&name=api')).toEqual({ api: ['9 api>web', '7 *>web', '6 api>*'] });
    expect(await found('by=source&name=none')).toEqual({ none: ['7 *>web'] });
  });

  test('by source reflects changed entries', async () => {
    await intentions('web', [{ Name: 'job', Action: 'allow' }]);
    expect(await found('by=source&name=api')).toEqual({ api: ['6 api>*'] });
    await api.call('DELETE', '/v1/config/service-intentions/web');
    expect(await found('by=source&name=job')).toEqual({ job: [] });
  });

  test('waits for a change of its own result', async () => {
    const { headers } = await ask('match?by=destination&name=web');
    const waiting = ask(
      `match?by=destination&name=web&index=${headers['x-registry-index']}&wait=10m`,
    );
    await api.settle();
    await intentions('web', [{ Name: 'job', Action: 'allow' }]);
    expect((await waiting).json.web).toHaveLength(2);
  });

  test.each(['', 'by=source', 'by=x&name=web', `by=source${'&name=a'.repeat(17)}`])(
    '%j is no question',
    async (query) => {
      expect((await ask(`match?${query}`)).json).toMatchObject({
        status: 400,
        code: 'invalid-query',
      });
    },
  );
});
