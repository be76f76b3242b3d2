/**
 * Sessions over a stream: `serveExec` for the side that runs the command, `openExec` for the side that asks
 * for it. They join server, node and supervisor, hop by hop.
 *
 * Invariants
 *
 *  X1. Bytes under way on a hop, in either direction, are at most the credit of its stream and a chunk.
 *  X2. The end of the stream ends the command, and the end of the command ends the stream.
 *  X3. The exit code comes once, after all output.
 *  X4. If the command cannot be started, the stream fails before any frame.
 */
import { type ByteStream, StreamFault } from '../node-stream/byte-stream.ts';
import {
  dataFrames,
  type ExecFrame,
  ExecFrameReader,
  encodeExecFrame,
  MalformedExecFrame,
} from './exec-frames.ts';
import type { ExecOutput, ExecSession } from './exec-session.ts';

/** Serves a session that runs here. Resolves when it has ended; rejects if the stream broke. */
export async function serveExec(stream: ByteStream, session: ExecSession): Promise<void> {
  const stop = (): void => session.close();
  stream.signal.addEventListener('abort', stop, { once: true });
  if (stream.isOver) stop();
  // If the output fails first, nobody awaits the exit.
  session.exited.catch(() => {});
  try {
    await stream.write(encodeExecFrame({ kind: 'started' }));
    void takeInput(stream, session);
    for await (const { stream: kind, data } of session.output) {
      for (const frame of dataFrames(kind, data)) await stream.write(frame);
    }
    const { exitCode } = await session.exited;
    await stream.write(encodeExecFrame({ kind: 'exited', exitCode }));
  } finally {
    stream.signal.removeEventListener('abort', stop);
    session.close();
  }
}

async function takeInput(stream: ByteStream, session: ExecSession): Promise<void> {
  const reader = new ExecFrameReader();
  try {
    for await (const chunk of stream) {
      for (const frame of reader.read(chunk)) {
        if (frame.kind === 'stdin') await session.write(frame.data);
        else if (frame.kind === 'closeInput') session.closeInput();
        else if (frame.kind === 'size') session.resize(frame);
      }
    }
    session.closeInput();
  } catch (error) {
    // The writer handles the end of the stream.
    if (error instanceof StreamFault) return;
    stream.fail({ status: 400, code: 'malformed-request', message: (error as Error).message });
  }
}

/** Resolves once the command runs. Rejects with {@link StreamFault}. */
export async function openExec(stream: ByteStream): Promise<ExecSession> {
  const frames = framesOf(stream);
  const first = await frames.next();
  if (first.done || first.value.kind !== 'started') {
    stream.cancel();
    throw brokenOff();
  }
  return new RemoteSession(stream, frames);
}

async function* framesOf(stream: ByteStream): AsyncGenerator<ExecFrame, void> {
  const reader = new ExecFrameReader();
  try {
    for await (const chunk of stream) yield* reader.read(chunk);
  } catch (error) {
    if (error instanceof MalformedExecFrame) throw brokenOff();
    throw error;
  }
}

class RemoteSession implements ExecSession {
  readonly output: AsyncIterable<ExecOutput>;
  readonly exited: Promise<{ readonly exitCode: number }>;
  readonly #stream: ByteStream;
  /** Frames are sent whole, one after the other. */
  #sending: Promise<void> = Promise.resolve();

  constructor(stream: ByteStream, frames: AsyncGenerator<ExecFrame, void>) {
    this.#stream = stream;
    const exit = Promise.withResolvers<{ readonly exitCode: number }>();
    this.exited = exit.promise;
    this.exited.catch(() => {});
    this.output = outputOf(frames, exit);
  }

  write(data: Uint8Array): Promise<void> {
    return this.#send(dataFrames('stdin', data));
  }

  closeInput(): void {
    void this.#send([encodeExecFrame({ kind: 'closeInput' })]);
  }

  resize({ height, width }: { readonly height: number; readonly width: number }): void {
    void this.#send([encodeExecFrame({ kind: 'size', height, width })]);
  }

  close(): void {
    this.#stream.cancel();
  }

  #send(frames: Iterable<Uint8Array>): Promise<void> {
    this.#sending = this.#sending.then(async () => {
      try {
        for (const frame of frames) await this.#stream.write(frame);
      } catch (error) {
        // The session is over, and later messages to it are dropped.
        if (!(error instanceof StreamFault)) throw error;
      }
    });
    return this.#sending;
  }
}

async function* outputOf(
  frames: AsyncGenerator<ExecFrame, void>,
  exit: PromiseWithResolvers<{ readonly exitCode: number }>,
): AsyncGenerator<ExecOutput, void> {
  try {
    for await (const frame of frames) {
      if (frame.kind === 'stdout' || frame.kind === 'stderr') {
        yield { stream: frame.kind, data: frame.data };
      } else if (frame.kind === 'exited') {
        exit.resolve({ exitCode: frame.exitCode });
        return;
      }
    }
    throw brokenOff();
  } catch (error) {
    exit.reject(error);
    throw error;
  } finally {
    exit.reject(brokenOff());
  }
}

const brokenOff = (): StreamFault =>
  new StreamFault({
    status: 503,
    code: 'session-broken-off',
    message: 'The session broke off before the command ended.',
  });
