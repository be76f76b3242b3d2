/**
 * The loops of a node that speak with servers, from its start to its end.
 *
 * Invariants
 *  L1. After an error each loop pauses, longer each time, with jitter, and for at least as long as the
 *      server asks; no loop waits for another.
 *  L2. Each loop resolves when `signal` aborts, and never rejects.
 */
import { durationMs } from '../base/duration.ts';
import { delay, type World } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import type { StreamHandler } from '../model/node-stream/stream-connection.ts';
import { Backoff } from './backoff.ts';
import type { Drivers } from './drivers/driver.ts';
import { withDriversOf } from './fingerprint/fingerprint.ts';
import type { Registration } from './registration.ts';
import { type Assignment, reasonOf, retryAfterMsOf, type ServerApi } from './server-api.ts';
import type { ServerContact } from './server-contact.ts';
import { runStream } from './stream-loop.ts';

export interface LoopContext {
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  readonly api: ServerApi;
  readonly registration: Pick<
    Registration,
    'id' | 'secret' | 'restored' | 'change' | 'done' | 'noteError'
  >;
  readonly contact: Pick<ServerContact, 'during' | 'ttlMs'>;
  readonly signal: AbortSignal;
  readonly onNotice: (sentence: string) => void;
}

/** Keeps the servers from declaring the node lost. */
export async function sendHeartbeats(context: LoopContext): Promise<void> {
  const { api, registration, contact, world, signal } = context;
  await repeat(context, 'the heartbeat failed', async (onSuccess) => {
    let ttlMs = await registration.done();
    while (!signal.aborted) {
      // Well before the time to live ends, and not all nodes at the same moment.
      await delay(world.timers, ttlMs * (0.4 + 0.2 * world.random.fraction()), signal);
      if (signal.aborted) return;
      const { id, secret } = registration;
      const answer = await contact.during(() => api.heartbeat(id, secret, signal));
      ttlMs = durationMs(answer.HeartbeatTTL);
      onSuccess();
    }
  });
}

type Apply = (assignments: readonly Assignment[]) => void;

/** Passes on all assignments of the node at each change. */
export async function followAssignments(context: LoopContext, apply: Apply): Promise<void> {
  const { registration, signal } = context;
  await repeat(context, 'the assignments could not be read', async (onSuccess) => {
    await registration.done();
    // A new start of the loop reads the whole list, so no change is lost.
    for (let index = 0; !signal.aborted; ) {
      index = await applyNext(context, index, apply);
      if (!signal.aborted) onSuccess();
    }
  });
}

/** A function of its own, so that the answer is released before the next wait. */
async function applyNext(context: LoopContext, index: number, apply: Apply): Promise<number> {
  const { api, registration, signal } = context;
  const { id, secret, restored } = registration;
  const query = { index, waitMs: limits.node.allocationsPollWaitMs, restored };
  const answer = await api.assignments(id, query, secret, signal);
  if (!signal.aborted) apply(answer.assignments);
  return answer.index;
}

/** Registers the node again when the health of a driver changes. */
export async function watchDrivers(context: LoopContext, drivers: Drivers): Promise<void> {
  const { registration, world, signal } = context;
  const periods = [...drivers.values()].flatMap(({ refreshMs }) => refreshMs ?? []);
  if (periods.length === 0) return;
  while (!signal.aborted) {
    await delay(world.timers, Math.min(...periods), signal);
    if (signal.aborted) return;
    const found = { drivers, clock: world.clock };
    const isChanged = await registration.change((node) => withDriversOf(node, found));
    if (isChanged) await registration.done().catch(() => {});
  }
}

/** Answers requests of the servers over a stream. */
export async function answerServers(
  context: LoopContext,
  handlers: ReadonlyMap<string, StreamHandler>,
): Promise<void> {
  const { api, registration, contact, world, signal, onNotice } = context;
  const options = {
    timers: world.timers,
    random: world.random,
    handlers,
    reconnectMinMs: () => reconnectMinMs(contact),
    open: async (over: AbortSignal) => {
      await registration.done();
      return api.openStream(registration.id, registration.secret, over);
    },
    onError: (error: unknown) => {
      onNotice(`the stream to the servers failed: ${reasonOf(error)}`);
      registration.noteError(error);
    },
  };
  await runStream(options, signal);
}

/** Repeats a loop after each error, until the agent stops. */
async function repeat(
  { registration, contact, world, signal, onNotice }: LoopContext,
  failure: string,
  run: (onSuccess: () => void) => Promise<void>,
): Promise<void> {
  const { timers, random } = world;
  const minMs = () => reconnectMinMs(contact);
  const backoff = new Backoff({ minMs, maxMs: limits.stream.reconnectMaxMs, timers, random });
  while (!signal.aborted) {
    let leastMs = 0;
    try {
      await run(() => backoff.reset());
    } catch (error) {
      if (signal.aborted) return;
      onNotice(`${failure}: ${reasonOf(error)}`);
      registration.noteError(error);
      leastMs = retryAfterMsOf(error);
    }
    await backoff.wait(signal, leastMs);
  }
}

/** The first pause after a lost connection. The nodes of a large fleet come back over a longer time. */
function reconnectMinMs({ ttlMs }: Pick<ServerContact, 'ttlMs'>): number {
  const { reconnectMinMs: leastMs, reconnectsPerTtl } = limits.stream;
  return Math.max(leastMs, ttlMs / reconnectsPerTtl);
}
