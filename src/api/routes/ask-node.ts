import { catalogue, type ErrorCode, RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { Server } from '../../server/server.ts';

/** What is asked of a node over the connection that it holds open. */
export interface NodeQuestion {
  readonly nodeId: string;
  /** Of the stream; the node has a handler for it. */
  readonly kind: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface NodeAnswer {
  /** What the node says before anything else. */
  readonly head: Readonly<Record<string, unknown>>;
  /** At the reader's pace: the node waits for who does not read. Ends, or rejects, with the stream. */
  readonly body: AsyncGenerator<Uint8Array, void>;
}

/**
 * Resolves when the node has said that nothing stands in the way, so that what does becomes a
 * problem rather than a cut answer.
 * @throws RosterError of the node, or `node-unreachable`
 */
export async function askNode(server: Server, question: NodeQuestion): Promise<NodeAnswer> {
  const { nodeId, kind, params, signal } = question;
  const connection = server.streams.of(nodeId);
  try {
    const source = connection.open(kind, params);
    // An iterator that waits for bytes ends only when its source does.
    const cancel = (): void => source.cancel();
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const late = server.context.world.timers.after(limits.node.commandTimeoutMs, cancel);
    try {
      return await answerOf(source);
    } finally {
      late.clear();
    }
  } catch (error) {
    throw error instanceof StreamFault ? refusalOf(error, nodeId) : error;
  }
}

/**
 * The same for an answer that is short: its text, which is JSON.
 * @throws RosterError of the node, or `node-unreachable`
 */
export async function askNodeForText(server: Server, question: NodeQuestion): Promise<string> {
  const over = new AbortController();
  const late = server.context.world.timers.after(limits.node.commandTimeoutMs, () => over.abort());
  const signal = AbortSignal.any([question.signal, over.signal]);
  try {
    const { body } = await askNode(server, { ...question, signal });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > limits.node.answerBytesMax) break;
      chunks.push(chunk);
    }
    if (bytes <= limits.node.answerBytesMax) return Buffer.concat(chunks).toString();
  } catch (error) {
    throw error instanceof StreamFault ? refusalOf(error, question.nodeId) : error;
  } finally {
    late.clear();
  }
  throw refusal('node-unreachable', { node: question.nodeId });
}

async function answerOf(source: ByteStream): Promise<NodeAnswer> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const next = await iterator.next();
    if (next.done || bytes > limits.stream.frameBytesMax) break;
    bytes += next.value.length;
    const end = next.value.indexOf(newline);
    chunks.push(end < 0 ? next.value : next.value.subarray(0, end));
    if (end < 0) continue;
    const head = JSON.parse(Buffer.concat(chunks).toString()) as NodeAnswer['head'];
    return { head, body: rest(next.value.subarray(end + 1), iterator) };
  }
  source.cancel();
  throw new StreamFault({
    status: 502,
    code: 'no-head',
    message: 'the node answered without a head',
  });
}

const newline = 0x0a;

async function* rest(
  first: Uint8Array,
  iterator: AsyncIterator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  try {
    if (first.length > 0) yield first;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** What a node says that stands in the way, in the words of the catalogue. */
export function refusalOf({ code, status, message }: StreamFault, node: string): RosterError {
  const isOurs = Object.hasOwn(catalogue, code) && catalogue[code as ErrorCode].status === status;
  if (isOurs) return new RosterError(code as ErrorCode, message);
  if (status === 404) return new RosterError('file-not-found', message);
  if (status === 429) return new RosterError('too-many-watches', message);
  if (status < 499) return new RosterError('malformed-request', message);
  return refusal('node-unreachable', { node });
}
