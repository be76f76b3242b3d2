/**
 * Sends a small request at a steady pace, in a process of its own, so that no other load delays it. It
 * reports when it has begun, continues until it is told to end, and then reports the time of each answer.
 */
import { limits } from './limits.ts';
import { Connection, requestBytes } from './load.ts';
import type { Target } from './target.ts';

export interface Asked {
  readonly target: Target;
  readonly path: string;
  readonly everyMs: number;
}

export type AskerSaid =
  | { readonly kind: 'begun' }
  | { readonly kind: 'done'; readonly waitsMs: readonly number[] };

/** Sends the next request on a free connection, even if earlier answers are missing. */
async function ask({ target, path, everyMs }: Asked): Promise<readonly number[]> {
  const connections = await Promise.all(
    Array.from({ length: limits.connections }, () => Connection.open(target)),
  );
  const idle = [...connections];
  const request = requestBytes(target, 'GET', path);
  const waitsMs: number[] = [];
  const askOnce = async (connection: Connection) => {
    const sentMs = performance.now();
    await connection.send(request);
    waitsMs.push(performance.now() - sentMs);
    idle.push(connection);
  };
  const asked: Promise<void>[] = [];
  const timer = setInterval(() => {
    // With all connections busy, their long waits already show the delay.
    const connection = idle.pop();
    if (connection !== undefined) asked.push(askOnce(connection));
  }, everyMs);
  say({ kind: 'begun' });
  await new Promise((told) => process.once('message', told));
  clearInterval(timer);
  await Promise.all(asked);
  for (const connection of connections) connection.close();
  return waitsMs;
}

const say = (said: AskerSaid): void => void process.send!(said);

say({ kind: 'done', waitsMs: await ask(JSON.parse(process.argv[2]!)) });
process.disconnect();
