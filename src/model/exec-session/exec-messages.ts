import { base64Of, bytesOfBase64 } from '../../base/base64.ts';
/**
 * The messages of a session's WebSocket, JSON text each.
 * Source: docs/guides/actions-and-exec.md#without-the-command-line.
 *
 *     client  {"stdin":{"data":"aGk="}}  {"stdin":{"close":true}}  {"tty_size":{"height":24,"width":80}}  {}
 *     server  {"stdout":{"data":"aGk="}}  {"stdout":{"close":true}}  {"exited":true,"result":{"exit_code":7}}
 */
import { limits } from '../limits.ts';
import type { TerminalSize } from './exec-session.ts';

export interface ClientMessage {
  readonly data?: Uint8Array;
  readonly closesInput?: boolean;
  readonly size?: TerminalSize;
}

export type ServerMessage =
  | { readonly kind: 'data'; readonly stream: 'stdout' | 'stderr'; readonly data: Uint8Array }
  | { readonly kind: 'close'; readonly stream: 'stdout' | 'stderr' }
  | { readonly kind: 'exited'; readonly exitCode: number };

export interface Handshake {
  readonly version: number;
  readonly token: string;
}

/** A message that is not in the table. Its sentence tells the fault. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

type Members = Readonly<Record<string, unknown>>;

/** @throws MalformedMessage. A message without a member is a heartbeat. */
export function parseClientMessage(text: string): ClientMessage {
  const { stdin, tty_size: size, ...others } = members(parsed(text), 'The message');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new MalformedMessage(`The message has an unknown member "${unknown.slice(0, 40)}".`);
  }
  return { ...(stdin != null && inputOf(stdin)), ...(size != null && sizeOf(size)) };
}

function inputOf(stdin: unknown): ClientMessage {
  const { data, close } = members(stdin, 'stdin');
  if (data !== undefined && !isBase64(data)) {
    throw new MalformedMessage('stdin.data is not base64.');
  }
  if (close !== undefined && typeof close !== 'boolean') {
    throw new MalformedMessage('stdin.close is neither true nor false.');
  }
  return {
    ...(data !== undefined && { data: bytesOfBase64(data) }),
    ...(close && { closesInput: true }),
  };
}

const isBase64 = (value: unknown): value is string =>
  typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

/** Terminals without a window, as in scripts and builds, report a size of 0 by 0, which is no size. */
function sizeOf(value: unknown): ClientMessage {
  const { height, width } = members(value, 'tty_size');
  if (height === 0 && width === 0) return {};
  const { terminalSizeMax: most } = limits.exec;
  const isSize = (side: unknown): side is number =>
    Number.isInteger(side) && (side as number) >= 1 && (side as number) <= most;
  if (isSize(height) && isSize(width)) return { size: { height, width } };
  throw new MalformedMessage(`tty_size needs a height and a width from 1 to ${most}.`);
}

/**
 * Reads the first message, if the token comes in it.
 * @throws MalformedMessage
 */
export function parseHandshake(text: string): Handshake {
  const { version, auth_token: token = '' } = members(parsed(text), 'The handshake');
  if (version !== handshakeVersion) {
    throw new MalformedMessage(`The handshake needs "version": ${handshakeVersion}.`);
  }
  if (typeof token !== 'string') throw new MalformedMessage('auth_token is not a text.');
  return { version: handshakeVersion, token };
}

const handshakeVersion = 1;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedMessage('The message is not JSON.');
  }
}

function members(value: unknown, what: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new MalformedMessage(`${what} is not an object.`);
}

export function encodeClientMessage({ data, closesInput, size }: ClientMessage): string {
  const stdin = {
    ...(data !== undefined && { data: base64Of(data) }),
    ...(closesInput && { close: true }),
  };
  return JSON.stringify({
    ...((data !== undefined || closesInput) && { stdin }),
    ...(size !== undefined && { tty_size: size }),
  });
}

export function encodeServerMessage(message: ServerMessage): string {
  switch (message.kind) {
    case 'data': {
      const { stream, data } = message;
      const text = base64Of(data);
      // Base64 needs no escapes, and a megabyte takes a thousand of these messages.
      return `{"${stream}":{"data":"${text}"}}`;
    }
    case 'close':
      return JSON.stringify({ [message.stream]: { close: true } });
    case 'exited':
      return JSON.stringify({
        exited: true,
        // Clients of this contract expect a 0 to be left out.
        result: message.exitCode === 0 ? {} : { exit_code: message.exitCode },
      });
  }
}

/** @throws MalformedMessage. `undefined`: a heartbeat. */
export function parseServerMessage(text: string): ServerMessage | undefined {
  const message = members(parsed(text), 'The message');
  if (message.exited === true) {
    const { exit_code: exitCode = 0 } = members(message.result ?? {}, 'result');
    if (!Number.isInteger(exitCode)) throw new MalformedMessage('exit_code is no integer.');
    return { kind: 'exited', exitCode: exitCode as number };
  }
  for (const stream of ['stdout', 'stderr'] as const) {
    if (message[stream] === undefined) continue;
    const { data, close } = members(message[stream], stream);
    if (close === true) return { kind: 'close', stream };
    if (isBase64(data)) return { kind: 'data', stream, data: bytesOfBase64(data) };
    throw new MalformedMessage(`${stream}.data is not base64.`);
  }
  return undefined;
}
