import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeToken, encodeToken, TokenFault } from '../../src/model/peering/token.ts';
import { rootToken, startApi } from '../support/api.ts';
import { testsFollower } from '../support/follower.ts';
import { type Known, operationsOf } from '../support/fuzz.ts';
import { fuzz } from '../support/fuzz-api.ts';
import '../support/properties.ts';

// A request to a follower runs on three servers.
const runsPerOperation = testsFollower ? 60 : 300;
const addresses = ['a.example:1', '[::1]:4720', 'x', 'a:0'];

async function furnished() {
  const api = await startApi();
  api.server.peerings.advertise({ addresses: ['here.example:4720'], caPems: [] });
  for (const PeerName of ['east', 'west']) {
    const { status, text } = await api.call('POST', '/v1/peering/token', { body: { PeerName } });
    expect(status, text).toBe(200);
  }
  const known: Known = {
    paths: { name: ['east', 'WEST', 'none', 'a\0'] },
    texts: {
      PeerName: ['east', 'north', 'North', 'a.b'],
      partition: ['default', 'none', 'a\0'],
      Partition: ['default', 'none'],
      filter: ['State == "INITIAL"', 'Meta is empty'],
      ServerExternalAddresses: addresses,
      PeeringToken: ['', 'e30=', 'bnVsbA==', 'W10='],
    },
    bodies: {
      'POST /v1/peering/token': [
        { PeerName: 'north', ServerExternalAddresses: addresses.slice(0, 2), Meta: { a: 'b' } },
        { PeerName: 'east' },
      ],
      'POST /v1/peering/establish': [{ PeerName: 'north', PeeringToken: 'e30=' }],
    },
    secrets: [rootToken, rootToken, null],
  };
  const { json } = await api.call('GET', '/v1/openapi.json');
  return { api, known, operations: operationsOf(json, (path) => /\/peerings?(\/|$)/.test(path)) };
}

test('requests for peerings get answers of the document, and never a 500', async () => {
  const { operations } = await furnished();
  expect(operations).toHaveLength(6);
  for (const { method, path } of operations) {
    const { api, known, operations: own } = await furnished();
    const operation = own.find((one) => one.method === method && one.path === path)!;
    const seen = await fuzz(api, operation, known, runsPerOperation);
    // Random tokens never lead to a server.
    const reached = path.endsWith('/establish') ? 400 : 200;
    expect(
      seen.get(reached) ?? 0,
      `${method} ${path} ${JSON.stringify([...seen])}`,
    ).toBeGreaterThan(0);
  }
});

const token = {
  caPems: [],
  manualAddresses: ['m:1'],
  addresses: ['[::1]:2'],
  serverName: 's',
  peerId: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
  secret: 'hunter2',
  partition: 'p',
  datacenter: 'dc',
};

test('parsing any token gives a token, or a fault without secrets', () => {
  const text = encodeToken(token);
  const changed = fc
    .record({ at: fc.nat(text.length - 1), length: fc.nat(8), put: fc.string({ maxLength: 8 }) })
    .map(({ at, length, put }) => text.slice(0, at) + put + text.slice(at + length));
  const other = fc.json().map((json) => Buffer.from(json).toString('base64'));
  const shaped = fc
    .dictionary(
      fc.constantFrom(
        'CA',
        'ServerAddresses',
        'ServerName',
        'PeerID',
        'EstablishmentSecret',
        'Remote',
      ),
      fc.anything(),
    )
    .map((raw) => Buffer.from(JSON.stringify(raw) ?? '').toString('base64'));
  const readOrRefused = fc.property(fc.oneof(changed, other, shaped, fc.string()), (given) => {
    try {
      const read = decodeToken(given);
      expect(decodeToken(encodeToken(read))).toEqual(read);
    } catch (error) {
      expect(error).toBeInstanceOf(TokenFault);
      expect((error as Error).message).not.toContain('hunter2');
    }
  });
  fc.assert(readOrRefused, { numRuns: 2000 });
});
