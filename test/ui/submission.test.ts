/** Forms that are cancelled while their writes wait, without a browser. */
import { expect, test } from 'vitest';
import { ConnectionError } from '../../src/sdk/errors.ts';
import { pause } from '../../src/sdk/pause-real.ts';
import type { TransportAnswer, TransportRequest } from '../../src/sdk/transport.ts';
import { type Submission, submit } from '../../ui/src/live/submission.ts';
import { eventually } from '../support/agent.ts';

type Client = Parameters<Parameters<typeof submit>[1]>[0];

/** A server that answers when the test says so. */
class Server {
  readonly asked: {
    readonly request: TransportRequest;
    readonly answer: (status: number, code?: string) => void;
    readonly fail: (code: string) => void;
  }[] = [];
  /** The pauses between two attempts end with the signal alone. */
  isPatient = false;

  run(calls: (client: Client) => Promise<unknown>): Submission {
    const send = (request: TransportRequest): Promise<TransportAnswer> =>
      new Promise((resolve, reject) => {
        const answer = (status: number, code?: string): void =>
          resolve({ status, headers: {}, body: bodyOf(code) });
        const fail = (code: string): void => reject(new ConnectionError('a', code, code));
        this.asked.push({ request, answer, fail });
      });
    const repeats = {
      newKey: () => 'key',
      pause: (ms: number, signal: AbortSignal | undefined) =>
        pause(this.isPatient ? 60_000 : Math.min(ms, 1), signal),
    };
    const transport = { send, repeats, close: async () => {} };
    return submit({ transport, address: 'a' }, calls);
  }

  async next(count: number): Promise<Server['asked'][number]> {
    await eventually(() => expect(this.asked).toHaveLength(count));
    return this.asked[count - 1]!;
  }
}

async function* bodyOf(code: string | undefined): AsyncGenerator<Uint8Array, void> {
  if (code !== undefined) yield new TextEncoder().encode(JSON.stringify({ code, detail: code }));
}

const write = (client: Client) => client.namespaces.write('payments', {});
const cancelled = { code: 'cancelled' };

test('a form that is cancelled between two attempts sends nothing more, and changes nothing', async () => {
  const server = new Server();
  server.isPatient = true;
  const form = server.run(write);
  (await server.next(1)).answer(503, 'no-leader');
  await eventually(() => expect(form.isAwaited).toBe(false));
  expect(await form.cancel()).toBe('none');
  await expect(form.result).rejects.toMatchObject(cancelled);
  expect(server.asked).toHaveLength(1);
});

test.each([
  ['is done', 200, undefined, 'done'],
  ['was not run', 503, 'no-leader', 'none'],
  ['is refused', 409, 'conflict', 'none'],
  ['may have been run', 503, 'outcome-unknown', 'unknown'],
  ['fails', 500, 'internal-error', 'unknown'],
] as const)(
  'a form whose write is under way when it is cancelled, and %s, is told so',
  async (_, status, code, fate) => {
    const server = new Server();
    const form = server.run(write);
    const sent = await server.next(1);
    const told = form.cancel();
    // The form does nothing that belongs to a success.
    await expect(form.result).rejects.toMatchObject(cancelled);
    expect(form.isAwaited).toBe(true);
    sent.answer(status, code);
    expect(await told).toBe(fate);
    expect(server.asked).toHaveLength(1);
  },
);

test.each([
  ['ECONNRESET', 'unknown'],
  ['UND_ERR_HEADERS_TIMEOUT', 'unknown'],
  ['ECONNREFUSED', 'none'],
] as const)('a write without an answer (%s) is told as "%s"', async (code, fate) => {
  const server = new Server();
  const form = server.run(write);
  const sent = await server.next(1);
  const told = form.cancel();
  sent.fail(code);
  expect(await told).toBe(fate);
});

test('an attempt that was not run says nothing of an earlier one that may have been', async () => {
  const server = new Server();
  const form = server.run(write);
  (await server.next(1)).answer(503, 'outcome-unknown');
  const second = await server.next(2);
  const told = form.cancel();
  second.answer(503, 'no-leader');
  expect(await told).toBe('unknown');
  expect(server.asked).toHaveLength(2);
});

test('the next write of a cancelled form is not sent, and the first one is told', async () => {
  const server = new Server();
  const { promise, resolve } = Promise.withResolvers<void>();
  const form = server.run(async (client) => {
    await write(client);
    await promise;
    await write(client);
  });
  (await server.next(1)).answer(200);
  await eventually(() => expect(form.isAwaited).toBe(false));
  const told = form.cancel();
  resolve();
  expect(await told).toBe('partly');
  expect(server.asked).toHaveLength(1);
});

test('a form that is over has nothing to cancel', async () => {
  const server = new Server();
  const form = server.run(write);
  (await server.next(1)).answer(200);
  await form.result;
  expect(await form.cancel()).toBe('finished');
});
