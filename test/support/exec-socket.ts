import WebSocket from 'ws';
import { eventually } from './agent.ts';

export interface Said {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** All messages without data, in order. */
  readonly others: readonly object[];
  readonly code: number;
  readonly reason: string;
}

export interface ExecSocket {
  readonly socket: WebSocket;
  /** A text is sent unchanged. */
  send(message: object | string): void;
  /** The output so far. */
  said(): string;
  says(pattern: RegExp): Promise<RegExpExecArray>;
  readonly closed: Promise<Said>;
}

/** Opens a session over a real WebSocket, as a client of the protocol does. */
export function openExecSocket(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  first: readonly object[] = [],
): ExecSocket {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers: { ...headers } });
  const pieces = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const others: object[] = [];
  let heard = (): void => {};
  socket.on('open', () => {
    for (const message of first) socket.send(JSON.stringify(message));
  });
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    const stream = (['stdout', 'stderr'] as const).find((name) => message[name]?.data);
    if (stream === undefined) others.push(message);
    else pieces[stream].push(Buffer.from(message[stream].data, 'base64'));
    heard();
  });
  const closed = new Promise<Said>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code, reason) => {
      const [stdout, stderr] = [Buffer.concat(pieces.stdout), Buffer.concat(pieces.stderr)];
      resolve({ stdout, stderr, others, code, reason: reason.toString() });
    });
  });
  closed.catch(() => {});
  const said = () => Buffer.concat(pieces.stdout).toString();
  return {
    socket,
    said,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    says: (pattern) =>
      eventually(
        () => {
          const found = pattern.exec(said());
          if (found === null) throw new Error(`${pattern} was not said: ${said()}`);
          return found;
        },
        (again) => {
          heard = again;
        },
      ),
  };
}
