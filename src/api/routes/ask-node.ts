import { catalogue, type ErrorCode, RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { Server } from '../../server/server.ts';

/** A question to a node, sent over the connection that the node keeps open. */
export interface NodeQuestion {
  readonly nodeId: string;
  /** The kind of the stream, which selects the node's handler. */
  readonly kind: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

export interface NodeAnswer {
  /** The first line of the answer. */
  readonly head: Readonly<Record<string, unknown>>;
  /** The node waits for a slow reader. Ends or rejects with the stream. */
  readonly body: AsyncGenerator<Uint8Array, void>;
}

/**
 * Resolves when the node has accepted the question, so that its refusal becomes a problem instead
 * of a cut answer.
 * @throws RosterError of the node, or `node-unreachable`
 */
export async function askNode(server: Server, question: NodeQuestion): Promise<NodeAnswer> {
  const { nodeId, kind, params, signal } = question;
  const connection = server.streams.held(nodeId) ?? (await server.streamElsewhere(nodeId));
  try {
    const source = connection.open(kind, params);
    // Ending the iterator would wait for bytes, so the source is cancelled.
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
 * As `askNode`, for a short answer in JSON.
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

/** The error of the catalogue for a node's refusal. */
export function refusalOf({ code, status, message }: StreamFault, node: string): RosterError {
  const isOurs = Object.hasOwn(catalogue, code) && catalogue[code as ErrorCode].status === status;
  if (isOurs) return new RosterError(code as ErrorCode, message);
  if (status === 404) return new RosterError('file-not-found', message);
  if (status === 429) return new RosterError('too-many-watches', message);
  if (status < 499) return new RosterError('malformed-request', message);
  return refusal('node-unreachable', { node });
}
