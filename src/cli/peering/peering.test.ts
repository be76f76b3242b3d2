import { describe, expect, test } from 'vitest';
import type { Peering } from '../../sdk/client.ts';
import { nowMs, run } from '../harness.test-helper.ts';
import { advice } from './words.ts';

const at = (secondsAgo: number) => new Date(nowMs - secondsAgo * 1000).toISOString();

const peering: Peering = {
  ID: 'aaaaaaaa-0000-4000-8000-000000000000',
  Name: 'east',
  State: 'ACTIVE',
  Partition: 'default',
  PeerID: 'bbbbbbbb-0000-4000-8000-000000000000',
  PeerServerName: 'server.b.peering',
  PeerServerAddresses: ['b:4720'],
  PeerCAPems: null,
  StreamStatus: {
    ImportedServices: ['db', 'web'],
    ExportedServices: ['api'],
    LastError: '',
    LastHeartbeat: at(12),
    LastReceive: at(3),
    LastSend: at(4),
  },
  Meta: { env: 'prod' },
  Remote: { Partition: 'p', Datacenter: 'dc2' },
  DeletedAt: null,
  CreateIndex: 1,
  ModifyIndex: 2,
};
const failing: Peering = {
  ...peering,
  Name: 'west',
  State: 'FAILING',
  Meta: null,
  StreamStatus: {
    ImportedServices: null,
    ExportedServices: [],
    LastHeartbeat: null,
    LastReceive: null,
    LastSend: null,
    LastError: 'c:4720: nothing listens there',
  },
};
const server = {
  'POST /v1/peering/token': { json: { PeeringToken: 'TOKEN' } },
  'POST /v1/peering/establish': { json: {} },
  'GET /v1/peerings': { json: [peering, failing] },
  'GET /v1/peering/east': { json: peering },
  'GET /v1/peering/west': { json: failing },
  'DELETE /v1/peering/east': { status: 200 },
};

test('generate-token prints the token and nothing else', async () => {
  const words = '-name east -server-external-addresses a:1,b:2 -meta k=v -partition p';
  const ran = await run(['peering', 'generate-token', ...words.split(' ')], { server });
  expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([0, 'TOKEN\n', '']);
  expect(ran.seen).toMatchObject([
    {
      body: {
        PeerName: 'east',
        Partition: 'p',
        Meta: { k: 'v' },
        ServerExternalAddresses: ['a:1', 'b:2'],
      },
    },
  ]);
  const { stdout } = await run(['peering', 'generate-token', 'east', '-json'], { server });
  expect(JSON.parse(stdout)).toEqual({ PeeringToken: 'TOKEN' });
});

describe('establish', () => {
  test.each([
    ['as a word', ['-peering-token', 'T'], {}],
    ['from a file', ['-peering-token', '@token'], { files: { token: 'T\n' } }],
    ['from standard input', ['-peering-token', '-'], { stdin: 'T\n' }],
  ])('takes the token %s, and waits for the stream', async (_, words, setting) => {
    const ran = await run(['peering', 'establish', '-name', 'east', ...words], {
      server,
      ...setting,
    });
    expect([ran.exitCode, ran.stdout]).toEqual([
      0,
      'The peering "east" is established.\nIts state is ACTIVE.\n',
    ]);
    expect(ran.seen[0]).toMatchObject({ body: { PeerName: 'east', PeeringToken: 'T' } });
  });

  test('-detach does not wait, and -json prints JSON', async () => {
    const words = ['peering', 'establish', 'east', '-peering-token', 'T'];
    const ran = await run([...words, '-detach'], { server });
    expect([ran.stdout, ran.seen.length]).toEqual(['The peering "east" is established.\n', 1]);
    const json = await run([...words, '-json'], { server });
    expect(JSON.parse(json.stdout)).toEqual(peering);
  });

  test.each([
    [['-peering-token', 'T'], "Missing required argument 'NAME'"],
    [['a', '-name', 'b', '-peering-token', 'T'], '"a" is left, -name gives NAME'],
    [['-name', 'east'], 'The token is missing.'],
    [['-name', 'east', '-peering-token', '@none'], '"none" cannot be read'],
    [['-name', 'east', '-peering-token', 'T', '-meta', 'x'], 'must have the form KEY=VALUE'],
  ])('refused: %j', async (words, message) => {
    const { exitCode, stderr, seen } = await run(['peering', 'establish', ...words], { server });
    expect([exitCode, seen]).toEqual([1, []]);
    expect(stderr).toContain(message);
  });

  test.each([
    ['peering-token-refused', 403, 'Make a new token on the other cluster'],
    ['peering-conflict', 409, '"roster peering list" shows the names that are taken.'],
    ['peer-unreachable', 503, 'Check that a server of the other cluster runs'],
  ])('establish gives advice about %s', async (code, status, hint) => {
    const refused = { 'POST /v1/peering/establish': { status, json: { code, detail: 'No.' } } };
    const words = ['peering', 'establish', '-name', 'east', '-peering-token', 'SECRET'];
    const { exitCode, stderr } = await run(words, { server: refused });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain('SECRET');
  });
});

test('list and read', async () => {
  const listed = await run(['peering', 'list', '-filter', 'State != ""'], { server });
  expect(listed.stdout).toBe(
    [
      'Name  State    Imported  Exported  Last received  Meta',
      'east  ACTIVE   2         1         3s ago         env=prod',
      'west  FAILING  0         0         -              -',
      '',
      '"roster peering read NAME" says why a peering is not ACTIVE.',
      '',
    ].join('\n'),
  );
  expect(listed.seen[0]!.query).toEqual({ filter: 'State != ""' });
  const none = await run(['peering', 'list'], { server: { 'GET /v1/peerings': { json: [] } } });
  expect(none.stdout).toBe('There are no peerings.\n');
  const { stdout } = await run(['peering', 'read', '-name', 'east'], { server });
  for (const line of [
    /^State +ACTIVE$/m,
    /^Imported +2 services: db, web$/m,
    /^Meta.env +prod$/m,
  ]) {
    expect(stdout).toMatch(line);
  }
  const failed = await run(['peering', 'read', 'west'], { server });
  expect(failed.stdout).toMatch(/^Last error +c:4720: nothing listens there$/m);
  expect(failed.stdout).toContain('It is tried again and again');
});

test('delete -wait waits until the peering is deleted', async () => {
  const deleted = await run(['peering', 'delete', '-name', 'east'], { server });
  expect(deleted.stdout).toBe('The peering "east" is marked for deletion.\n');
  const missing = { status: 404, json: { code: 'peering-not-found', detail: 'Not found.' } };
  const leaving = { ...server, 'GET /v1/peering/east': [{ json: peering }, missing] };
  const waited = await run(['peering', 'delete', 'east', '-wait'], { server: leaving });
  expect([waited.exitCode, waited.stdout]).toEqual([
    0,
    'The peering "east" is marked for deletion.\nIt is gone.\n',
  ]);
  const none = await run(['peering', 'delete', 'x'], {
    server: { 'GET /v1/peering/x': missing },
  });
  expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining('Not found.')]);
});

test.each<[Partial<Peering>, string | undefined]>([
  [{ State: 'ACTIVE' }, undefined],
  [{ State: 'ESTABLISHING' }, undefined],
  [{ State: 'INITIAL' }, 'to use its token'],
  [{ State: 'TERMINATED' }, 'The other cluster has deleted it'],
  [{ State: 'TERMINATED', DeletedAt: at(1) }, undefined],
])('advice on %j', (changes, words) => {
  const given = advice({ ...peering, ...changes });
  if (words === undefined) expect(given).toBeUndefined();
  else expect(given).toContain(words);
});

test.each([
  ['c:1: the peering is unknown there (it may have been deleted), or …', 'Delete it here with'],
  ['c:1: the server there could not show that it belongs to the peer', 'Check where that'],
  ['heartbeat timeout: nothing was heard for 120 s', 'It is tried again and again'],
])('advice on the failure "%s"', (LastError, words) => {
  const StreamStatus = { ...failing.StreamStatus, LastError };
  expect(advice({ ...failing, StreamStatus })).toContain(words);
});
