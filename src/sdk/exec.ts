import type { execEndpoints } from '../contract/exec.ts';
import {
  encodeClientMessage,
  MalformedMessage,
  parseServerMessage,
} from '../model/exec-session/exec-messages.ts';
import type { ExecOutput, ExecSession } from '../model/exec-session/exec-session.ts';
import type { MessageQueue, PausableWebSocket } from '../model/exec-session/message-queue.ts';
import { callsOf } from './calls.ts';
import { SessionError } from './errors.ts';
import type { CallOptions, Requester } from './requester.ts';
import type { OpenSocket } from './transport.ts';

export type { ExecOutput, ExecSession } from '../model/exec-session/exec-session.ts';

export interface ExecOptions extends CallOptions {
  /** Has to be complete. */
  readonly allocation: string;
  /** Optional if the allocation has a single task. */
  readonly task?: string | undefined;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** With a terminal. */
  readonly tty?: boolean | undefined;
}

export interface ActionOptions extends CallOptions {
  readonly job: string;
  /** The complete id of an allocation of the job. */
  readonly allocation: string;
  readonly task: string;
  readonly action: string;
  readonly tty?: boolean | undefined;
}

export interface ClientSession extends ExecSession {
  /** Tells the server that the user is still present. Call it about every ten seconds. */
  heartbeat(): void;
}

/** Commands in running tasks. Source: docs/guides/actions-and-exec.md#without-the-command-line. */
export type Exec = ReturnType<typeof execOf>;

export function execOf(requester: Requester) {
  const { openSocket } = callsOf<typeof execEndpoints>(requester);
  return {
    /**
     * Opens a session. If the command cannot be started, output and exit reject with
     * `SessionError`.
     */
    run: async ({
      allocation,
      task,
      command,
      tty,
      ...call
    }: ExecOptions): Promise<ClientSession> => {
      const path = { alloc_id: allocation };
      const query = { task, command: JSON.stringify(command), tty: tty ?? false };
      return new WebSocketSession(
        await openSocket('GET /v1/client/allocation/:alloc_id/exec', path, call, query),
      );
    },
    /** Opens a session for an action of a job. */
    action: async (options: ActionOptions): Promise<ClientSession> => {
      const { job, allocation, task, action, tty, ...call } = options;
      const query = { action, alloc_id: allocation, task, tty: tty ?? false };
      return new WebSocketSession(
        await openSocket('GET /v1/job/:job_id+/action', { job_id: job }, call, query),
      );
    },
  };
}

const connectionLost = 1006;

/** As `Promise.withResolvers`, which the oldest Node of the client does not have. */
function withResolvers<T>(): PromiseWithResolvers<T> {
  let parts: Omit<PromiseWithResolvers<T>, 'promise'>;
  const promise = new Promise<T>((resolve, reject) => {
    parts = { resolve, reject };
  });
  return { promise, ...parts! };
}

class WebSocketSession implements ClientSession {
  readonly output: AsyncIterable<ExecOutput>;
  readonly exited: Promise<{ readonly exitCode: number }>;
  readonly #socket: PausableWebSocket;

  constructor({ socket, messages }: OpenSocket) {
    this.#socket = socket;
    const exit = withResolvers<{ readonly exitCode: number }>();
    this.exited = exit.promise;
    this.exited.catch(() => {});
    this.output = outputOf(messages, exit);
  }

  write(data: Uint8Array): Promise<void> {
    return this.#send(encodeClientMessage({ data }));
  }

  closeInput(): void {
    void this.#send(encodeClientMessage({ closesInput: true }));
  }

  resize(size: { readonly height: number; readonly width: number }): void {
    void this.#send(encodeClientMessage({ size }));
  }

  heartbeat(): void {
    void this.#send(encodeClientMessage({}));
  }

  close(): void {
    this.#socket.terminate();
  }

  /** Resolves when the socket has taken the text. A closed socket takes everything. */
  #send(text: string): Promise<void> {
    return new Promise((resolve) => this.#socket.send(text, () => resolve()));
  }
}

async function* outputOf(
  queue: MessageQueue,
  exit: PromiseWithResolvers<{ readonly exitCode: number }>,
): AsyncGenerator<ExecOutput, void> {
  try {
    for await (const text of queue) {
      const message = parsed(text);
      if (message?.kind === 'data') yield { stream: message.stream, data: message.data };
      if (message?.kind === 'exited') {
        exit.resolve({ exitCode: message.exitCode });
        return;
      }
    }
    throw errorOf(await queue.closed);
  } catch (error) {
    exit.reject(error);
    throw error;
  }
}

function parsed(text: string) {
  try {
    return parseServerMessage(text);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw new SessionError(connectionLost, 'The server sent a message that no session has.');
  }
}

const errorOf = ({ code, reason }: Awaited<MessageQueue['closed']>): SessionError =>
  new SessionError(
    code,
    reason === '' ? 'The connection was lost before the command ended.' : reason,
  );
