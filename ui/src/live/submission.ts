/**
 * The writes of a form, which its reader may cancel. It knows neither the page nor Svelte, so that it is tested without a
 * browser.
 *
 * Invariants
 *  C1. After `cancel` nothing is sent: neither a repeat, nor the next request of the form.
 *  C2. A write that was sent is not taken back: its answer is awaited, and tells the fate.
 *  C3. The form hears of the end at once, so that it does nothing that belongs to a success.
 */
import { type BrowserClient, createBrowserClient } from '../../../src/sdk/browser.ts';
import { ApiError, ConnectionError, isNeverSent } from '../../../src/sdk/errors.ts';
import type { Transport, TransportAnswer } from '../../../src/sdk/transport.ts';
import type { PageTransport } from './stream-transport.ts';

/**
 * What became of a cancelled form. `finished`: it was over before. `partly`: some of its writes were made. `unknown`: a
 * write may have been made.
 */
export type Fate = 'finished' | 'none' | 'partly' | 'done' | 'unknown';

export interface Submission {
  /** Settles as the form does; a cancelled one rejects. */
  readonly result: Promise<unknown>;
  readonly isCancelled: boolean;
  /** Whether a write was sent whose answer is not there. */
  readonly isAwaited: boolean;
  /** Ends it. Resolves when its fate is known. Never rejects. */
  cancel(): Promise<Fate>;
}

/** @param run makes the calls of the form, with the given client */
export function submit(
  { transport, address }: { readonly transport: PageTransport; readonly address: string },
  run: (client: BrowserClient) => Promise<unknown>,
): Submission {
  const cancelled = new AbortController();
  const awaited = new Set<Promise<TransportAnswer>>();
  let isAnyDone = false;
  const { signal } = cancelled;
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  ended.catch(() => {});
  const send: Transport['send'] = async (request) => {
    signal.throwIfAborted();
    const answer = transport.send(request, signal);
    const isWrite = request.method !== 'GET';
    if (isWrite) awaited.add(answer);
    const over = (): boolean => awaited.delete(answer);
    answer.then(over, over);
    const head = await Promise.race([answer, ended]);
    isAnyDone ||= isWrite && isDone(head);
    return head;
  };
  const { repeats } = transport;
  const own: Transport = {
    ...transport,
    send,
    ...(repeats !== undefined && {
      repeats: {
        newKey: () => repeats.newKey(),
        pause: (delayMs) => repeats.pause(delayMs, signal),
      },
    }),
  };
  const client = createBrowserClient({ transport: own, address });
  const result = (async () => run(client))();
  result.catch(() => {});
  return {
    result,
    get isCancelled() {
      return signal.aborted;
    },
    get isAwaited() {
      return awaited.size > 0;
    },
    async cancel() {
      cancelled.abort(new ConnectionError(address, cancelledCode, 'You have cancelled this.'));
      const thrown = result.then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      const fates = await Promise.all([...awaited].map(fateOf));
      return fateOfAll(fates, await thrown, isAnyDone);
    },
  };
}

const cancelledCode = 'cancelled';

function fateOfAll(
  fates: readonly Fate[],
  thrown: { readonly error: unknown } | undefined,
  isAnyDone: boolean,
): Fate {
  if (thrown === undefined) return 'finished';
  if (fates.includes('done')) return 'done';
  if (fates.includes('unknown') || mayHaveRun(thrown.error)) return 'unknown';
  return isAnyDone ? 'partly' : 'none';
}

/** The client throws the error of an earlier attempt that may have been run, if there was one. */
function mayHaveRun(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 'outcome-unknown';
  return error instanceof ConnectionError && !isUnsent(error);
}

/** Of a write that was sent. */
async function fateOf(sent: Promise<TransportAnswer>): Promise<Fate> {
  try {
    const answer = await sent;
    if (isDone(answer)) return 'done';
    if (answer.status < 500) return 'none';
    return notRun.has(await codeIn(answer)) ? 'none' : 'unknown';
  } catch (error) {
    return isUnsent(error) ? 'none' : 'unknown';
  }
}

const isUnsent = (error: unknown): boolean =>
  isNeverSent(error) || (error instanceof ConnectionError && error.code === cancelledCode);

const isDone = ({ status }: TransportAnswer): boolean => status >= 200 && status < 300;

/** Source: docs/contract/http.md#repeating-a-write. */
const notRun: ReadonlySet<unknown> = new Set(['no-leader', 'not-leader', 'not-ready']);

async function codeIn({ body }: TransportAnswer): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of body) text += decoder.decode(part, { stream: true });
  try {
    return (JSON.parse(text) as { readonly code?: unknown }).code;
  } catch {
    return undefined;
  }
}
