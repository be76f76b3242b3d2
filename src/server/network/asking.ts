import type { Timer, Timers } from '../../base/ports.ts';
import { problemOf, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import {
  type ByteStream,
  StreamFault,
  streamCancelled,
} from '../../model/node-stream/byte-stream.ts';
import type { StreamConnection } from '../../model/node-stream/stream-connection.ts';
import { type Answered, type Asked, type Patience, ServerGone } from '../servers.ts';
import { networkLimits } from './limits.ts';

/** The kind of the streams that carry requests. */
export const requestKind = 'request';

/**
 * Requests between servers, each on a stream of its own: a line of JSON with the head, then the body. A
 * short request goes with the opening of its stream.
 *
 * Invariants
 *  A1. A request runs only after all of it has come. So a connection that ends before its end was sent
 *      certainly has not run it. A body that its route reads itself (`unread`) is read while it comes, and
 *      changes nothing before its end.
 *  A2. The stream ends at its deadline, when the asker is gone, and with the connection. The server that
 *      was asked notices each.
 *  A3. A server that was asked answers also where its bug leaves it without an answer: with a 500, as to a client of
 *      its own. Only a stream that ends without an answer leaves the outcome unknown.
 */
export interface AskOptions {
  readonly connection: Pick<StreamConnection, 'open'>;
  /** The server that is asked. */
  readonly id: string;
  readonly timers: Timers;
}

/** Has the server at the other end answer. @throws ServerGone */
export async function askOver(
  { connection, id, timers }: AskOptions,
  question: Asked,
  { deadlineMs, gone }: Patience,
): Promise<Answered> {
  if (gone?.aborted) throw new ServerGone(id, false);
  const text = headOf(question);
  const isShort =
    question.unread === undefined &&
    text.length + (question.body?.length ?? 0) <= networkLimits.inlineBytesMax;
  let wasSent = false;
  const cancel = (): void => stream.cancel();
  let stream: ByteStream;
  try {
    stream = connection.open(requestKind, isShort ? inlineOf(text, question.body) : {});
    wasSent = isShort;
  } catch (error) {
    if (error instanceof StreamFault) throw new ServerGone(id, false);
    throw error;
  }
  const late = timers.after(deadlineMs, cancel);
  gone?.addEventListener('abort', cancel, { once: true });
  let isStreaming = false;
  try {
    const sending = sendQuestion(stream, isShort ? undefined : text, question).then(() => {
      wasSent = true;
    });
    // An answer may come before the end of a body that is read while it comes.
    if (question.unread === undefined) await sending;
    else sending.catch(cancel);
    const answer = await readAnswer(stream);
    isStreaming = typeof answer.body === 'object' && !(answer.body instanceof Uint8Array);
    return answer;
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error;
    throw new ServerGone(id, wasSent && !notRun.has(error.code));
  } finally {
    late.clear();
    if (!isStreaming) gone?.removeEventListener('abort', cancel);
  }
}

/** `head`: `undefined` if the opening of the stream has it. @throws StreamFault */
async function sendQuestion(
  stream: ByteStream,
  head: string | undefined,
  { body, unread }: Asked,
): Promise<void> {
  if (head !== undefined) {
    await stream.write(Buffer.from(`${head}\n`));
    if (body !== undefined) await stream.write(body);
    for await (const piece of unread ?? []) await stream.write(piece);
  }
  if (stream.isOver) throw streamCancelled();
  stream.end();
}

/** Has the server at the other end tell a text, on a stream of that kind. @throws ServerGone */
export async function askText(
  { connection, id, timers }: AskOptions,
  { kind, params = {} }: { kind: string; params?: Readonly<Record<string, unknown>> },
  { deadlineMs }: Patience,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let late: Timer | undefined;
  try {
    const stream = connection.open(kind, params);
    late = timers.after(deadlineMs, () => stream.cancel());
    for await (const part of stream) parts.push(part);
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error;
    throw new ServerGone(id, true);
  } finally {
    late?.clear();
  }
  return Buffer.concat(parts).toString();
}

const malformedQuestion = 'malformed-question';
const malformedAnswer = 'malformed-answer';

/** Refusals of the stream itself: the request did not run. */
const notRun = new Set(['too-many-streams', 'unknown-stream-kind', malformedQuestion]);

/** The parts of a server that answer requests of another one. */
export interface Answering {
  /** `gone` aborts when nobody waits. */
  readonly answer: (question: Asked, gone: AbortSignal) => Promise<Answered>;
  /** Told of bugs. */
  readonly onError: (error: unknown) => void;
}

/** Serves a request of the server at the other end. @throws StreamFault */
export async function answerOver(
  stream: ByteStream,
  params: Readonly<Record<string, unknown>>,
  { answer, onError }: Answering,
): Promise<void> {
  const question = await readQuestion(stream, params);
  const { status, headers, body } = await answer(question, stream.signal).catch((error) => {
    if (error instanceof StreamFault) throw error;
    onError(new Error('a forwarded request has no answer', { cause: error }));
    return bugAnswer();
  });
  const isStream = typeof body === 'object' && !(body instanceof Uint8Array);
  const head = Buffer.from(`${JSON.stringify({ status, headers, isStream })}\n`);
  if (isStream) {
    await stream.write(head);
    for await (const part of body) await stream.write(part);
  } else {
    const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array());
    await stream.write(Buffer.concat([head, bytes]));
  }
}

/** A3. */
function bugAnswer(): Answered {
  const problem = problemOf(refusal('internal-error', { request: 'forwarded' }));
  const headers = { 'content-type': 'application/problem+json' };
  return { status: problem.status, headers, body: JSON.stringify(problem) };
}

function headOf({ method, path, query, headers, remoteAddress, unread }: Asked): string {
  const isUnread = unread !== undefined || undefined;
  return JSON.stringify({ method, path, query, headers, remoteAddress, isUnread });
}

const inlineOf = (head: string, body: Uint8Array | undefined) => ({
  head,
  ...(body !== undefined && { body: Buffer.from(body).toString('base64') }),
});

async function readQuestion(
  stream: ByteStream,
  { head, body }: Readonly<Record<string, unknown>>,
): Promise<Asked> {
  if (typeof head === 'string') {
    return asked(head, typeof body === 'string' ? Buffer.from(body, 'base64') : undefined);
  }
  const reader = new Reader(stream, malformedQuestion);
  const line = await reader.line();
  if (parsed(line).isUnread === true) {
    return { ...asked(line, undefined), unread: reader.pieces() };
  }
  const most = limits.http.jobBodyBytesMax;
  return asked(line, await reader.rest(most));
}

function asked(head: string, body: Uint8Array | undefined): Asked {
  const { method, path, query, headers, remoteAddress } = parsed(head);
  if (![method, path, query].every((text) => typeof text === 'string')) throw malformed();
  if (typeof headers !== 'object' || headers === null) throw malformed();
  return {
    method: method as string,
    path: path as string,
    query: query as string,
    headers: headers as Asked['headers'],
    body: body === undefined || body.length === 0 ? undefined : body,
    ...(typeof remoteAddress === 'string' && { remoteAddress }),
  };
}

async function readAnswer(stream: ByteStream): Promise<Answered> {
  const reader = new Reader(stream, malformedAnswer);
  const { status, headers, isStream } = parsed(await reader.line(), malformedAnswer);
  const head = { status: status as number, headers: headers as Answered['headers'] };
  if (isStream === true) return { ...head, body: reader.parts() };
  const body = await reader.rest(Number.POSITIVE_INFINITY);
  return { ...head, body: body.length === 0 ? undefined : body };
}

function parsed(line: string, code = malformedQuestion): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // As below.
  }
  throw malformed(code);
}

const malformed = (code = malformedQuestion): StreamFault =>
  new StreamFault({ status: 400, code, message: 'the head is no JSON' });

const newline = 0x0a;

/** Reads a stream: a line, and then the rest. */
class Reader {
  readonly #source: AsyncIterator<Uint8Array, void>;
  readonly #stream: ByteStream;
  readonly #code: string;
  #ahead: Uint8Array = new Uint8Array();

  /** @param code of the fault that a message which cannot be read throws */
  constructor(stream: ByteStream, code: string) {
    this.#stream = stream;
    this.#code = code;
    this.#source = stream[Symbol.asyncIterator]();
  }

  /** @throws StreamFault if the stream fails, or ends before the line does */
  async line(): Promise<string> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done) throw malformed(this.#code);
      const end = value.indexOf(newline);
      parts.push(end < 0 ? value : value.subarray(0, end));
      bytes += value.length;
      if (end >= 0) {
        this.#ahead = value.subarray(end + 1);
        return Buffer.concat(parts).toString();
      }
      if (bytes > networkLimits.headBytesMax) throw malformed(this.#code);
    }
  }

  async rest(bytesMax: number): Promise<Uint8Array> {
    const parts = [this.#ahead];
    let bytes = this.#ahead.length;
    for (;;) {
      if (bytes > bytesMax) throw malformed(this.#code);
      const { done, value } = await this.#source.next();
      if (done) return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      parts.push(value);
      bytes += value.length;
    }
  }

  /** The rest as it comes. */
  async *pieces(): AsyncGenerator<Uint8Array, void> {
    if (this.#ahead.length > 0) yield this.#ahead;
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done) return;
      yield value;
    }
  }

  /** The same. Leaving the loop ends the stream. */
  async *parts(): AsyncGenerator<Uint8Array, void> {
    try {
      yield* this.pieces();
    } finally {
      this.#stream.cancel();
    }
  }
}
