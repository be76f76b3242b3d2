import WebSocket from 'ws';
import { applied, type Json } from '../../src/model/ui-stream/difference.ts';
import { eventually } from './agent.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape.
type Message = any;

export interface UiSocket {
  readonly socket: WebSocket;
  /** A text is sent unchanged. */
  send(message: object | string): void;
  /** All text messages so far. */
  readonly heard: readonly Message[];
  /** The values of watches, made of the messages so far. */
  readonly values: Map<number, Json>;
  /** The bytes of each body so far. */
  bytes(id: number): Buffer;
  /** The number of bytes in the parts of a body, and whether it is over. */
  isOver(id: number): boolean;
  hears(isMeant: (message: Message) => boolean): Promise<Message>;
  until<T>(check: () => T): Promise<T>;
  /** Whether watched values are acknowledged by themselves. */
  acknowledges: boolean;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export interface UiSocketOptions {
  readonly token?: string;
  readonly namespace?: string;
  readonly partition?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the hello; `null`: nothing is said. */
  readonly first?: object | string | null;
}

/** A connection of the web interface over a real WebSocket, as a browser has it. */
export function openUiSocket(address: string, options: UiSocketOptions = {}): UiSocket {
  const { token = '', namespace = '', partition = '', headers = {} } = options;
  const { first = { kind: 'hello', version: 1, token, namespace, partition } } = options;
  const socket = new WebSocket(`${address.replace(/^http/, 'ws')}/v1/ui/stream`, {
    headers: { ...headers },
  });
  const heard: Message[] = [];
  const early: string[] = [];
  const values = new Map<number, Json>();
  const parts = new Map<number, Buffer[]>();
  const over = new Set<number>();
  const waiting = new Set<() => void>();
  const told = () => {
    for (const again of [...waiting]) again();
  };
  const send = (message: object | string): void => {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    if (socket.readyState === socket.CONNECTING) early.push(text);
    else socket.send(text);
  };
  socket.on('open', () => {
    if (first !== null) send(first);
    for (const text of early) socket.send(text);
  });
  const take = (message: Message): void => {
    heard.push(message);
    const { kind, id } = message;
    if (kind === 'value') values.set(id, message.value);
    if (kind === 'change') values.set(id, applied(values.get(id)!, message.change));
    const isValue = kind === 'value' || kind === 'change' || kind === 'same' || kind === 'refused';
    if (isValue && ui.acknowledges) send({ kind: 'acknowledge', id });
  };
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) {
      const id = data.readUInt32BE(0);
      if (data.length === 4) over.add(id);
      parts.set(id, [...(parts.get(id) ?? []), data.subarray(4)]);
    } else take(JSON.parse(data.toString()));
    told();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
      told();
    });
  });
  closed.catch(() => {});
  const until = <T>(check: () => T): Promise<T> => eventually(check, (again) => waiting.add(again));
  const ui: UiSocket = {
    socket,
    send,
    heard,
    values,
    closed,
    until,
    acknowledges: true,
    bytes: (id) => Buffer.concat(parts.get(id) ?? []),
    isOver: (id) => over.has(id),
    hears: (isMeant) =>
      until(() => {
        const found = heard.find(isMeant);
        if (found === undefined) throw new Error(`not heard: ${JSON.stringify(heard.slice(-3))}`);
        return found;
      }),
  };
  return ui;
}
