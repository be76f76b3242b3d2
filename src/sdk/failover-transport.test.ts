import { beforeEach, describe, expect, test } from 'vitest';
import { ConnectionError } from './errors.ts';
import { failoverTransport } from './failover-transport.ts';
import { type Resolve, ServerChoice } from './server-choice.ts';
import type { OpenSocket, Transport, TransportAnswer, TransportRequest } from './transport.ts';

const addresses = ['http://a', 'http://b', 'http://c'];
let choice: ServerChoice;
/**
 * The behaviour of each server, by its name: a status, the code of a 503, a code of the connection, or
 * silence. A server without an entry is unreachable.
 */
let answers: Record<string, number | string>;
let asked: string[];
/** Bodies that nobody has released. */
let open: number;
let transport: Transport;

beforeEach(() => {
  answers = {};
  asked = [];
  open = 0;
  choose(addresses);
});

function choose(of: readonly string[], resolve?: Resolve): void {
  choice = new ServerChoice({ addresses: of, resolve });
  transport = failoverTransport({
    choice,
    transportOf: ({ name }) => ({
      send: (request) => answer(name, request),
      close: async () => void asked.push(`close ${name}`),
    }),
  });
}

async function answer(address: string, { signal }: TransportRequest): Promise<TransportAnswer> {
  asked.push(address);
  const does = answers[address];
  if (does === undefined) {
    throw new ConnectionError(address, 'ECONNREFUSED', `Nothing listens at ${address}. Start one.`);
  }
  if (typeof does === 'string' && /^[A-Z_]+$/.test(does)) {
    throw new ConnectionError(address, does, `${address} failed. Look at it.`);
  }
  if (does === 'silence') {
    return new Promise((_, reject) =>
      signal!.addEventListener('abort', () => reject(signal!.reason)),
    );
  }
  open++;
  const problem = { code: does, detail: `It says ${does}.` };
  const text = typeof does === 'string' ? JSON.stringify(problem) : address;
  const body = (async function* () {
    try {
      yield Buffer.from(text);
    } finally {
      open--;
    }
  })();
  return { status: typeof does === 'string' ? 503 : does, headers: {}, body };
}

const send = async (given: Partial<TransportRequest> = {}): Promise<string> => {
  const { status, body } = await transport.send({
    method: 'GET',
    path: '/',
    headers: {},
    body: undefined,
    signal: undefined,
    headTimeoutMs: 1,
    bodyTimeoutMs: 1,
    ...given,
  });
  for await (const bytes of body) return `${status} ${bytes}`;
  return `${status}`;
};

/** The servers that were asked, by their letters. */
const tried = (): string => asked.map((name) => name.replace('http://', '')).join('');

describe('a write', () => {
  const plain = { method: 'PUT' } as const;
  const keyed = { ...plain, headers: { 'idempotency-key': 'k' } };
  test.each<[string, Partial<TransportRequest>, string | number | undefined, string]>([
    ['goes on where nothing listens', plain, undefined, 'ab'],
    ['goes on where the certificate is not trusted', plain, 'CERT_HAS_EXPIRED', 'ab'],
    ['goes on from a server without a leader', plain, 'no-leader', 'ab'],
    ['goes on from a server that does not lead', plain, 'not-leader', 'ab'],
    ['goes on from a server that is not ready', plain, 'not-ready', 'ab'],
    ['stays with an unknown outcome', keyed, 'outcome-unknown', 'a'],
    ['stays with a full store', keyed, 'store-full', 'a'],
    ['stays with a bug', keyed, 500, 'a'],
    ['stays with an answer that is late', keyed, 'UND_ERR_HEADERS_TIMEOUT', 'a'],
    ['stays with a lost connection', plain, 'ECONNRESET', 'a'],
    ['goes on from a lost connection under its key', keyed, 'ECONNRESET', 'ab'],
  ])('%s', async (_, request, does, expected) => {
    answers = { ...(does && { 'http://a': does }), 'http://b': 200 };
    const sent = send(request).catch((error: ConnectionError) => error.code);
    expect([await sent, open]).toEqual([
      expected === 'ab' ? '200 http://b' : (expect.not.stringContaining('200') as string),
      0,
    ]);
    expect(tried()).toBe(expected);
  });

  test('may have been run if any server lost it', async () => {
    answers = { 'http://a': 'ECONNRESET', 'http://b': 'no-leader' };
    await expect(send(keyed)).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'ECONNRESET',
    });
    expect(tried()).toBe('abc');
  });

  test('keeps a body that nobody has read for the next server', async () => {
    answers = { 'http://b': 200 };
    const bytes = (async function* () {
      yield Buffer.from('whole');
    })();
    const read: string[] = [];
    transport = failoverTransport({
      choice,
      transportOf: ({ name }) => ({
        async send(request) {
          const pieces = (request.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
          if (answers[name] === undefined) await pieces.return?.();
          else read.push(String((await pieces.next()).value));
          return answer(name, request);
        },
        close: async () => {},
      }),
    });
    expect(await send({ ...plain, body: bytes })).toBe('200 http://b');
    expect(read).toEqual(['whole']);
  });
});

test.each([
  ['ECONNREFUSED', 'ab'],
  ['no-web-socket', 'ab'],
  ['ECONNRESET', 'a'],
])('a WebSocket goes on from %s only where none was opened', async (code, expected) => {
  const opened = { socket: {}, messages: {} } as OpenSocket;
  transport = failoverTransport({
    choice,
    transportOf: ({ name }) => ({
      send: (request) => answer(name, request),
      async openSocket() {
        asked.push(name);
        if (name === 'http://a') throw new ConnectionError(name, code, code);
        return opened;
      },
      close: async () => {},
    }),
  });
  const request = { path: '/', headers: {}, signal: undefined };
  const result = await transport.openSocket!(request).catch((error: unknown) => error);
  expect(tried()).toBe(expected);
  expect(result === opened).toBe(expected === 'ab');
});

describe('the machines behind a host name', () => {
  const name = 'http://roster.example:4720';
  let machines: string[];
  let lookups: number;
  const resolve: Resolve = async () => {
    lookups++;
    if (machines.length === 0) throw new Error('the resolver is away');
    return machines;
  };
  const at = (ip: string) => `${name} (${ip})`;

  beforeEach(() => {
    machines = ['10.0.0.1', '10.0.0.2'];
    lookups = 0;
    choose([name], resolve);
  });

  test('are servers, and are looked up again only when none of them works', async () => {
    answers = { [at('10.0.0.2')]: 200 };
    expect(await send()).toBe(`200 ${at('10.0.0.2')}`);
    expect(await send()).toBe(`200 ${at('10.0.0.2')}`);
    expect([lookups, choice.current]).toEqual([1, at('10.0.0.2')]);
    machines = ['10.0.0.2', '10.0.0.3'];
    answers = { [at('10.0.0.3')]: 200 };
    asked = [];
    expect(await send()).toBe(`200 ${at('10.0.0.3')}`);
    expect([lookups, choice.current]).toEqual([2, at('10.0.0.3')]);
    expect(asked).toEqual(
      ['10.0.0.2', '10.0.0.1', '10.0.0.3'].map(at).toSpliced(2, 0, `close ${at('10.0.0.1')}`),
    );
  });

  test('stay known while the resolver is away', async () => {
    answers = { [at('10.0.0.1')]: 200 };
    await send();
    machines = [];
    answers = {};
    await expect(send()).rejects.toThrow('None of the 2 servers');
    answers = { [at('10.0.0.1')]: 200 };
    expect(await send()).toBe(`200 ${at('10.0.0.1')}`);
  });

  test('are left to the connection without an answer of the resolver', async () => {
    machines = [];
    answers = { [name]: 200 };
    expect(await send()).toBe(`200 ${name}`);
  });

  test('are not looked up for an IP address or this machine', async () => {
    for (const own of ['http://10.0.0.1:4720', 'http://[::1]:4720', 'http://localhost:4720']) {
      choose([own], resolve);
      answers = { [own]: 200 };
      expect(await send()).toBe(`200 ${own}`);
    }
    expect(lookups).toBe(0);
  });
});

test('each client has an order of its own', () => {
  const orders = [0, 1].map((lowest) => {
    const random = { below: () => lowest };
    return new ServerChoice({ addresses, random }).addresses.join(' ');
  });
  expect(new Set(orders).size).toBe(2);
  expect(orders.map((order) => order.split(' ').sort())).toEqual([addresses, addresses]);
});

describe('a request', () => {
  test.each<[string, Record<string, number>, string, string[], string]>([
    ['goes to the first', { 'http://a': 200 }, '200 http://a', ['a'], 'a'],
    ['goes on from a server out of reach', { 'http://b': 200 }, '200 http://b', ['a', 'b'], 'b'],
    ['goes on from a 503', { 'http://a': 503, 'http://b': 200 }, '200 http://b', ['a', 'b'], 'b'],
    ['goes on from a 500', { 'http://a': 500, 'http://c': 204 }, '204 http://c', [...'abc'], 'c'],
    ['takes a refusal for an answer', { 'http://a': 404 }, '404 http://a', ['a'], 'a'],
    ['takes the refusal of another', { 'http://b': 403 }, '403 http://b', ['a', 'b'], 'b'],
    [
      'gives what all answer alike, and moves nothing',
      { 'http://a': 500, 'http://b': 500, 'http://c': 502 },
      '502 http://c',
      [...'abc'],
      'a',
    ],
  ])('%s', async (_, does, expected, order, current) => {
    answers = does;
    expect(await send()).toBe(expected);
    expect(tried()).toBe(order.join(''));
    expect(choice.current).toBe(`http://${current}`);
    expect(open).toBe(0);
  });

  test('rejects with the reason of each server when none is reachable', async () => {
    await expect(send()).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      message:
        'None of the 3 servers took the request. Nothing listens at http://a. Nothing listens at http://b. Nothing listens at http://c.',
    });
    expect([asked, choice.current]).toEqual([addresses, 'http://a']);
  });

  test('is refused with the reason of each server when none takes it', async () => {
    answers = { 'http://b': 'no-leader', 'http://c': 'UND_ERR_HEADERS_TIMEOUT' };
    expect(await send()).toBe(
      `503 ${JSON.stringify({
        code: 'no-leader',
        detail:
          'None of the 3 servers took the request. Nothing listens at http://a. http://b: It says no-leader. http://c failed.',
      })}`,
    );
  });

  test.each<[string, Record<string, number | string>]>([
    ['first', { 'http://a': 'no-leader-since', 'http://b': 'no-leader' }],
    ['last', { 'http://a': 500, 'http://c': 'no-leader-since' }],
    ['before another loses it', { 'http://a': 'no-leader-since', 'http://c': 'ECONNRESET' }],
  ])('of a node keeps the answer of a server that heard it, %s', async (_, does) => {
    answers = does;
    expect(await send()).toContain('503 {"code":"no-leader-since"');
    expect([tried(), open]).toEqual(['abc', 0]);
  });

  test('stays with the server that answered, and returns to the first after the others', async () => {
    answers = { 'http://c': 200 };
    await send();
    answers = { 'http://a': 200 };
    asked = [];
    expect(await send()).toBe('200 http://a');
    expect(asked).toEqual(['http://c', 'http://a']);
  });

  test('that was aborted is not sent to other servers', async () => {
    answers = { 'http://a': 'silence', 'http://b': 200 };
    const nobody = new AbortController();
    const sent = send({ signal: nobody.signal });
    nobody.abort(new Error('enough'));
    await expect(sent).rejects.toThrow('enough');
    expect(asked).toEqual(['http://a']);
  });
});

test('a caller waiting for a silent server asks the new one once others have noticed', async () => {
  answers = { 'http://a': 'silence', 'http://b': 200 };
  const waiting = send();
  const impatient = choice.call(
    async ({ name }) => {
      if (name === 'http://a') throw new Error('too late');
      return name;
    },
    undefined,
    () => true,
  );
  expect(await impatient).toBe('http://b');
  expect(await waiting).toBe('200 http://b');
  expect(asked).toEqual(['http://a', 'http://b']);
});

test('an error that stays is passed on, and moves nothing', async () => {
  const refused = new Error('no');
  const call = choice.call(
    () => Promise.reject(refused),
    undefined,
    () => false,
  );
  await expect(call).rejects.toBe(refused);
  expect(choice.current).toBe('http://a');
});

test('closing closes the way to every server that was asked', async () => {
  answers = { 'http://b': 200 };
  await send();
  asked = [];
  await transport.close();
  expect(asked).toEqual(['close http://a', 'close http://b']);
});
