import { beforeAll, describe, expect, test } from 'vitest';
import { configEntries } from '../../src/state/tables.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

const put = (body: object, query = '', token?: null) =>
  api.call('PUT', `/v1/config${query}`, { body, ...(token === null && { token }) });

describe('all faults of an entry are reported at once', () => {
  const intentions = (...Sources: object[]) => ({ Kind: 'service-intentions', Name: 's', Sources });
  test.each<[about: string, body: object, faults: Readonly<Record<string, RegExp>>]>([
    [
      'an unknown field beside a wrong choice',
      { Kind: 'service-defaults', Name: 'z', Protcol: 'http', MeshGateway: { Mode: 'bogus' } },
      {
        '/Protcol': /^Protcol is not a known field; did you mean "Protocol"\?$/,
        '/MeshGateway/Mode': /must be one of/,
      },
    ],
    [
      'a wrong type beside a rule of the kind',
      {
        Kind: 'service-splitter',
        Name: 'z',
        Splits: [{ Weight: 'half' }, { Weight: 200 }],
        Meta: { a: 7 },
      },
      {
        '/Splits/0/Weight': /must be a number/,
        '/Splits/1/Weight': /from 0 to 100/,
        '/Meta/a': /must be a string/,
      },
    ],
    [
      'durations below zero as they were written',
      { Kind: 'service-resolver', Name: 'z', ConnectTimeout: '-5s', RequestTimeout: -1.5e9 },
      {
        '/ConnectTimeout': /must be at least 0s, got -5s$/,
        '/RequestTimeout': /must be at least 0s, got -1\.5s$/,
      },
    ],
    [
      'a list with something else in it',
      {
        Kind: 'service-router',
        Name: 'web',
        Routes: [
          { Match: { HTTP: { PathPrefix: '/', Methods: [[], 'GET'] } } },
          { Match: { HTTP: { PathPrefix: 'a' } } },
        ],
      },
      {
        '/Routes/0/Match/HTTP/Methods/0': /must be a string/,
        '/Routes/1/Match/HTTP/PathPrefix': /begin with/,
      },
    ],
    [
      'consequences of a mistyped field are not reported as well',
      intentions({ Name: 'a', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: 5 } }] }),
      { '/Sources/0/Permissions/0/HTTP/PathPrefix': /must be a string/ },
    ],
    [
      'sources of intentions by their place in the request',
      intentions(
        { Name: 'zz', Action: 'allow' },
        { Name: '*', Action: 'deny' },
        { Name: 'aa', Action: 'bogus' },
        { Action: 'deny' },
        { Name: 'zz', Action: 'deny' },
      ),
      {
        '/Sources/2/Action': /must be one of allow, deny/,
        '/Sources/3/Name': /is required/,
        '/Sources/4': /has a source before/,
      },
    ],
    [
      'no name beside the rest',
      { Kind: 'service-defaults', Colour: 1 },
      { '/Colour': /not a known field/, '/Name': /is required/ },
    ],
    [
      'another namespace, with the way to it',
      { Kind: 'service-defaults', Name: 'z', Namespace: 'team' },
      { '/Namespace': /and is "team": give it as ns= of the request$/ },
    ],
  ])('%s', async (_, body, faults) => {
    const { status, json } = await put(body);
    const told = Object.fromEntries(
      json.errors.map(({ pointer, message }: Record<string, string>) => [pointer, message]),
    );
    const expected = Object.entries(faults).map(([at, text]) => [at, expect.stringMatching(text)]);
    expect([status, told]).toEqual([400, Object.fromEntries(expected)]);
  });

  test('also to callers without permission, because it cannot be determined', async () => {
    const { status, json } = await put({ Kind: 'service-defaults' }, '', null);
    expect([status, json.errors]).toEqual([
      400,
      [{ pointer: '/Name', message: 'Name is required' }],
    ]);
  });
});

describe('names of entries', () => {
  test.each(['.', '..', 'a\n', 'caf\u0007', ' x', 'x ', 'a/'])('%j is refused', async (Name) => {
    const { status, json } = await put({ Kind: 'service-defaults', Name });
    expect([status, json.errors[0].pointer]).toEqual([400, '/Name']);
  });

  test.each(['café', 'x y', 'a/b', 'a.b', '...'])('%j is taken', async (Name) => {
    expect((await put({ Kind: 'service-defaults', Name }, '?dry_run')).json).toBe(true);
  });

  test('an entry with such a name can be read, listed and deleted', async () => {
    const body = { Kind: 'service-defaults', Name: 'stored' };
    await put(body);
    const { state } = api.server.context;
    const stored = [...state.read().table(configEntries).scan()].find(
      ({ Name }) => Name === 'stored',
    )!;
    await state.write((transaction) => {
      transaction.table(configEntries).put({ ...stored, Name: 'old\n' });
    });
    const path = '/v1/config/service-defaults/old%0A';
    expect((await api.call('GET', path)).json.Name).toBe('old\n');
    const listed = await api.call('GET', '/v1/config/service-defaults');
    expect(listed.json.map(({ Name }: { Name: string }) => Name)).toContain('old\n');
    expect((await api.call('DELETE', path)).json).toBe(true);
    expect((await api.call('GET', path)).status).toBe(404);
  });
});

test('extra fields that other servers write are accepted', async () => {
  const body = {
    Kind: 'service-intentions',
    Name: 'told',
    Hash: 14695981039346656,
    ModifyIndex: 7,
    Sources: [{ Name: 'a', Action: 'allow', Type: 'consul', Precedence: 9 }],
  };
  expect((await put(body)).json).toBe(true);
  const { json } = await api.call('GET', '/v1/config/service-intentions/told');
  expect(json).not.toHaveProperty('Hash');
  expect(json.Sources[0]).toMatchObject({ Name: 'a', Type: 'registry' });
});
