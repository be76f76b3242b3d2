import { beforeEach, describe, expect, test } from 'vitest';
import { decodeToken } from '../../src/model/peering/token.ts';
import type { TestApi } from '../support/api.ts';
import { startClusters } from '../support/clusters.ts';

let api: TestApi;
let during: Awaited<ReturnType<typeof startClusters>>['during'];
beforeEach(async () => {
  const started = await startClusters(['a']);
  api = started.clusters.a.api;
  during = started.during;
});

const call = (method: string, path: string, body?: unknown, options: object = {}) =>
  during(api.call(method, path, { ...options, ...(body !== undefined && { body }) }), 10);

const token = async (PeerName: string, body: object = {}) => {
  const { status, text, json } = await call('POST', '/v1/peering/token', { PeerName, ...body });
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return json.PeeringToken as string;
};

/** A token as another cluster would make it. */
const tokenOf = (changes: object = {}) =>
  Buffer.from(
    JSON.stringify({
      CA: [],
      ManualServerAddresses: [],
      ServerAddresses: ['b.example:4720'],
      ServerName: 'server.b.peering',
      PeerID: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
      EstablishmentSecret: 'hunter2-hunter2',
      Remote: {},
      ...changes,
    }),
  ).toString('base64');

const label = 'must be a DNS label';

describe('POST /v1/peering/token', () => {
  test('makes a token with addresses and a secret', async () => {
    const made = decodeToken(
      await token('east', { ServerExternalAddresses: ['lb.example:443', '[2001:db8::1]:4720'] }),
    );
    expect(made).toEqual({
      caPems: [],
      manualAddresses: ['lb.example:443', '[2001:db8::1]:4720'],
      addresses: ['a.example:4720'],
      serverName: expect.stringMatching(/^server\..*peering$/),
      peerId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      secret: expect.stringMatching(/^[0-9a-f-]{36}$/),
      partition: 'default',
      datacenter: 'dc-a',
    });
    const { json } = await call('GET', '/v1/peering/east');
    expect(json.ID).toBe(made.peerId);
  });

  test.each<[string, unknown, number, string, string]>([
    ['no JSON', '{', 400, 'malformed-json', 'not valid JSON'],
    ['an unknown field', { PeerName: 'x', Nonsense: 1 }, 400, 'invalid-body', 'Nonsense'],
    ['no name', {}, 400, 'invalid-body', 'is required in the payload when generating a new'],
    ['capitals', { PeerName: 'East' }, 400, 'invalid-body', label],
    ['a dot', { PeerName: 'a.b' }, 400, 'invalid-body', label],
    ['a hyphen at the end', { PeerName: 'a-' }, 400, 'invalid-body', label],
    ['64 letters', { PeerName: 'a'.repeat(64) }, 400, 'invalid-body', label],
    ['a NUL', { PeerName: 'a\0' }, 400, 'invalid-body', label],
    ['no text', { PeerName: 7 }, 400, 'invalid-body', 'PeerName'],
    ...[
      'x',
      'x:0',
      'x:65536',
      ':80',
      'http://x:80',
      '::1:80',
      '[::1',
      '1.2.3.999:80',
      'a b:80',
      'x:1/p',
    ].map((address): [string, unknown, number, string, string] => [
      `the address ${address}`,
      { PeerName: 'x', ServerExternalAddresses: [address] },
      400,
      'invalid-body',
      'ServerExternalAddresses[0] must be "host:port"',
    ]),
    [
      'too many addresses',
      { PeerName: 'x', ServerExternalAddresses: Array(17).fill('x:1') },
      400,
      'invalid-body',
      'at most 16 addresses',
    ],
    [
      'meta of a strange name',
      { PeerName: 'x', Meta: { 'a b': '' } },
      400,
      'invalid-body',
      'must have a name of letters',
    ],
    [
      'meta that is too long',
      { PeerName: 'x', Meta: { a: 'x'.repeat(513) } },
      400,
      'invalid-body',
      'at most 512 characters',
    ],
    [
      'too much meta',
      {
        PeerName: 'x',
        Meta: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`k${at}`, ''])),
      },
      400,
      'invalid-body',
      'at most 64 entries',
    ],
    [
      'a partition that is not there',
      { PeerName: 'x', Partition: 'none' },
      404,
      'partition-not-found',
      '"none"',
    ],
  ])('refuses %s', async (_, body, status, code, words) => {
    const answer = await call('POST', '/v1/peering/token', body);
    expect([answer.status, answer.json.code, answer.text]).toEqual([
      status,
      code,
      expect.stringContaining(words.replaceAll('"', '\\"')),
    ]);
  });

  test('reports all faults at once and changes nothing', async () => {
    const body = { PeerName: 'A', ServerExternalAddresses: ['x'], Meta: { 'a b': '' } };
    const { json } = await call('POST', '/v1/peering/token', body);
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/PeerName',
      '/ServerExternalAddresses/0',
      '/Meta/a b',
    ]);
    expect((await call('GET', '/v1/peerings')).json).toEqual([]);
  });

  test('reports faults of form and content together, each position once', async () => {
    const body = {
      PeerName: 7,
      Nonsense: 1,
      peername: 'A',
      Partition: 'default',
      ServerExternalAddresses: ['x', 7, null, 'y:1', 'z'],
      Meta: { 'a b': 7, b: 'x'.repeat(513), c: null, d: '' },
    };
    const { status, json } = await call('POST', '/v1/peering/token', body);
    expect(status).toBe(400);
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/PeerName',
      '/Nonsense',
      '/peername',
      '/ServerExternalAddresses/1',
      '/ServerExternalAddresses/2',
      '/Meta/a b',
      '/Meta/c',
      '/ServerExternalAddresses/0',
      '/ServerExternalAddresses/4',
      '/Meta/b',
    ]);
    // Without the permission the caller learns nothing about it.
    expect((await call('POST', '/v1/peering/token', body, { token: null })).status).toBe(403);
    for (const no of [[], 'x', 7]) {
      expect((await call('POST', '/v1/peering/token', no)).status).toBe(400);
    }
  });

  test('needs an address that is reachable by others', async () => {
    api.server.peerings.advertise({ addresses: [], caPems: [] });
    const { status, json } = await call('POST', '/v1/peering/token', { PeerName: 'x' });
    expect([status, json.errors[0].message]).toEqual([
      400,
      expect.stringContaining('can also be started with --advertise'),
    ]);
    await token('x', { ServerExternalAddresses: ['lb.example:1'] });
  });

  test('repeated, keeps the peering and its meta', async () => {
    await token('x', { Meta: { a: '1' } });
    const before = (await call('GET', '/v1/peering/x')).json;
    await token('x');
    const after = (await call('GET', '/v1/peering/x')).json;
    expect(after).toEqual({ ...before, ModifyIndex: after.ModifyIndex });
  });
});

describe('POST /v1/peering/establish', () => {
  const secret = 'hunter2-hunter2';

  test.each<[string, object, string]>([
    ['no token', { PeeringToken: '' }, 'PeeringToken is required in the payload when establishing'],
    ['no base64', { PeeringToken: 'a b' }, 'failed to decode token: it is not base64'],
    [
      'a cut token',
      { PeeringToken: tokenOf().slice(0, 80) },
      'it is cut off, or not a peering token',
    ],
    ['a list', { PeeringToken: Buffer.from('[]').toString('base64') }, 'it is not a peering token'],
    ['null', { PeeringToken: Buffer.from('null').toString('base64') }, 'it is not a peering token'],
    ['too much', { PeeringToken: 'A'.repeat(70_000) }, 'longer than 65536 characters'],
    [
      'no addresses',
      { PeeringToken: tokenOf({ ServerAddresses: [] }) },
      'addresses value is empty',
    ],
    [
      'an invalid address',
      { PeeringToken: tokenOf({ ServerAddresses: ['x'] }) },
      '"x" is not a valid peering server address',
    ],
    ['no server name', { PeeringToken: tokenOf({ ServerName: '' }) }, 'server name value is empty'],
    ['no peer id', { PeeringToken: tokenOf({ PeerID: '' }) }, 'peer ID value is empty'],
    ['a strange peer id', { PeeringToken: tokenOf({ PeerID: 'x' }) }, 'peer ID value is no UUID'],
    ['no secret', { PeeringToken: tokenOf({ EstablishmentSecret: '' }) }, 'secret value is empty'],
    [
      'a secret of another kind',
      { PeeringToken: tokenOf({ EstablishmentSecret: 7 }) },
      'must be text',
    ],
    ['no certificate', { PeeringToken: tokenOf({ CA: ['x'] }) }, 'invalid CA: it is not PEM'],
    [
      'a broken certificate',
      {
        PeeringToken: tokenOf({
          CA: ['-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----'],
        }),
      },
      'invalid CA: it holds a certificate that cannot be read',
    ],
    ['an invalid name', { PeerName: 'A', PeeringToken: tokenOf() }, 'is not a valid peer name'],
    ['no name', { PeerName: '', PeeringToken: tokenOf() }, 'when establishing a peering'],
  ])('refuses %s', async (_, changes, words) => {
    const body = { PeerName: 'b', ...changes };
    const answer = await call('POST', '/v1/peering/establish', body);
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid-body']);
    const messages = answer.json.errors.map(({ message }: { message: string }) => message);
    expect(messages.join('\n')).toContain(words);
    // No part of a token is repeated, not even the public part.
    expect(answer.text).not.toContain(secret);
    expect(answer.text).not.toContain(tokenOf().slice(0, 40));
  });

  test('reports faults of form and content together, without the token', async () => {
    const pointersOf = async (body: object) => {
      const { status, json, text } = await call('POST', '/v1/peering/establish', body);
      expect(status).toBe(400);
      expect(text).not.toContain(secret);
      return json.errors.map(({ pointer }: { pointer: string }) => pointer);
    };
    const wrong = { PeerName: 'A', Nonsense: 1, Meta: { 'a b': '' } };
    expect(await pointersOf({ ...wrong, PeeringToken: secret })).toEqual([
      '/Nonsense',
      '/PeerName',
      '/Meta/a b',
      '/PeeringToken',
    ]);
    expect(await pointersOf({ ...wrong, PeeringToken: [secret], PeerName: null })).toEqual([
      '/Nonsense',
      '/PeeringToken',
      '/PeerName',
      '/Meta/a b',
    ]);
  });

  test('refuses the name of a peering that awaits its peer', async () => {
    await token('b');
    const { status, json } = await call('POST', '/v1/peering/establish', {
      PeerName: 'b',
      PeeringToken: tokenOf(),
    });
    expect([status, json.code, json.detail]).toEqual([
      409,
      'peering-conflict',
      'cannot create peering with name: "b"; there is an existing peering expecting to be dialed.',
    ]);
  });

  test('refuses a body larger than any token', async () => {
    const body = { PeerName: 'b', PeeringToken: 'A'.repeat(200_000) };
    expect((await call('POST', '/v1/peering/establish', body)).status).toBe(413);
  });
});

describe('GET and DELETE /v1/peering/:name, GET /v1/peerings', () => {
  test('an unknown peering', async () => {
    const { status, json } = await call('GET', '/v1/peering/x');
    expect([status, json.code, json.detail]).toEqual([
      404,
      'peering-not-found',
      'Peering not found for "x".',
    ]);
    const { status: deleted, text, headers } = await call('DELETE', '/v1/peering/x');
    expect([deleted, text, headers['content-type']]).toEqual([200, '', undefined]);
    const { json: none, headers: found } = await call('GET', '/v1/peerings');
    expect([none, Number(found['x-registry-index']) >= 1]).toEqual([[], true]);
  });

  test('names in paths may be in any case', async () => {
    await token('east');
    expect((await call('GET', '/v1/peering/EAST')).json.Name).toBe('east');
    await call('DELETE', '/v1/peering/East');
    expect((await call('GET', '/v1/peering/east')).json?.DeletedAt).not.toBeNull();
  });

  test('a deletion tells its index, though it has no body', async () => {
    const indexOf = async (method: string, path: string, body?: object) =>
      Number((await call(method, path, body)).headers['x-registry-index']);
    const made = await indexOf('POST', '/v1/peering/token', { PeerName: 'east' });
    expect(await indexOf('DELETE', '/v1/peering/east')).toBeGreaterThan(made);
  });

  test('every field is present', async () => {
    await token('east');
    const { json, headers } = await call('GET', '/v1/peering/east?pretty');
    expect(Object.keys(json)).toEqual([
      'ID',
      'Name',
      'State',
      'Partition',
      'PeerServerName',
      'PeerServerAddresses',
      'PeerCAPems',
      'StreamStatus',
      'Meta',
      'Remote',
      'DeletedAt',
      'CreateIndex',
      'ModifyIndex',
    ]);
    expect(headers).toMatchObject({
      'x-registry-index': String(json.ModifyIndex),
      'x-registry-knownleader': 'true',
    });
  });

  test('lists are filtered, paged and limited to their partition', async () => {
    expect((await call('PUT', '/v1/partition/other', {})).status).toBe(200);
    for (const name of ['a', 'b', 'c']) await token(name, { Meta: { tier: name } });
    await token('a', { Partition: 'other' });
    const names = async (query: string) => {
      const { json } = await call('GET', `/v1/peerings${query}`);
      return json.map(({ Name, Partition }: Record<string, string>) => `${Partition}/${Name}`);
    };
    expect(await names('')).toEqual(['default/a', 'default/b', 'default/c']);
    expect(await names('?partition=other')).toEqual(['other/a']);
    expect(
      await names(`?filter=${encodeURIComponent('State == "INITIAL" and Meta.tier == "b"')}`),
    ).toEqual(['default/b']);
    const first = await call('GET', '/v1/peerings?per_page=2');
    const next = first.headers['x-registry-nexttoken'];
    expect(await names(`?per_page=2&next_token=${encodeURIComponent(next!)}`)).toEqual([
      'default/c',
    ]);
    expect(await names('?reverse')).toEqual(['default/c', 'default/b', 'default/a']);
    expect((await call('GET', '/v1/peering/b?partition=other')).status).toBe(404);
    // A partition with peerings cannot be deleted.
    const refused = await call('DELETE', '/v1/partition/other');
    expect([refused.status, refused.json.detail]).toEqual([
      409,
      expect.stringContaining('it still has peerings'),
    ]);
  });

  test('a blocking read waits for its own peering only', async () => {
    await token('a');
    await token('b');
    const { headers } = await call('GET', '/v1/peering/a');
    const path = `/v1/peering/a?index=${headers['x-registry-index']}&wait=60s`;
    let answered = false;
    const asked = api.call('GET', path).finally(() => {
      answered = true;
    });
    await token('b');
    expect(answered).toBe(false);
    await token('a', { Meta: { new: 'yes' } });
    expect((await during(asked, 10)).json.Meta).toEqual({ new: 'yes' });
    const gone = api.call('GET', '/v1/peering/b?index=1000&wait=60s');
    await call('DELETE', '/v1/peering/b');
    await during(Promise.resolve(), 70_000);
    expect((await gone).status).toBe(404);
  });

  test('an unused peering is deleted at once', async () => {
    const made = await token('a');
    await call('DELETE', '/v1/peering/a');
    await during(Promise.resolve(), 50);
    expect((await call('GET', '/v1/peering/a')).status).toBe(404);
    expect(made).not.toBe('');
  });
});
