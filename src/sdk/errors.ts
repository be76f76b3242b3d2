import type { ErrorCode, Fault } from '../model/errors.ts';

const brand = Symbol.for('roster.sdk.error');

/**
 * `instanceof` holds for errors of another copy of the client as well: an agent has a copy of its own, and programs
 * compare its errors with the classes of `roster/sdk`.
 */
abstract class ClientError extends Error {
  /** The name of the class, in every copy. */
  static readonly kind: string;

  static override [Symbol.hasInstance](value: unknown): boolean {
    const given = value as { readonly [brand]?: string } | null | undefined;
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class that is compared with.
    return given?.[brand] === this.kind;
  }

  get [brand](): string {
    return (this.constructor as typeof ClientError).kind;
  }
}

/** A refusal by the server, sent as `problem+json` (docs/contract/http.md#refusals). */
export class ApiError extends ClientError {
  static override readonly kind = 'ApiError';
  override readonly name = 'ApiError';
  readonly status: number;
  /** A code of the server's catalogue; `unexplained`: the answer came from elsewhere. */
  readonly code: ErrorCode | 'unexplained';
  /** The server's explanation; also the `message`. */
  readonly detail: string;
  /** Every fault of the body or the query, with its JSON pointer. */
  readonly errors: readonly Fault[];
  /** The index of the refusing state, to wait until it changes. */
  readonly index: number;
  readonly retryAfterSeconds: number | undefined;
  /** The record that made a guard fail, if the caller may see it. */
  readonly conflict: object | undefined;

  constructor(fields: {
    readonly status: number;
    readonly code: ErrorCode | 'unexplained';
    readonly detail: string;
    readonly errors?: readonly Fault[];
    readonly index?: number;
    readonly retryAfterSeconds?: number | undefined;
    readonly conflict?: object | undefined;
  }) {
    super(fields.detail);
    this.status = fields.status;
    this.code = fields.code;
    this.detail = fields.detail;
    this.errors = fields.errors ?? [];
    this.index = fields.index ?? 0;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.conflict = fields.conflict;
  }
}

/** No answer, or an unintelligible one. The message gives advice. */
export class ConnectionError extends ClientError {
  static override readonly kind = 'ConnectionError';
  override readonly name = 'ConnectionError';
  readonly address: string;
  /** The system's or the HTTP client's code: `ECONNREFUSED`, `ENOTFOUND` … */
  readonly code: string;

  constructor(address: string, code: string, sentence: string, cause?: unknown) {
    super(sentence, { cause });
    this.address = address;
    this.code = code;
  }
}

/** A session that the server refused, or ended before the command did. */
export class SessionError extends ClientError {
  static override readonly kind = 'SessionError';
  override readonly name = 'SessionError';
  /** Of the WebSocket: 1008 for a refusal, 1011 for a bug, 1006 for a lost connection. */
  readonly closeCode: number;

  constructor(closeCode: number, sentence: string) {
    super(sentence);
    this.closeCode = closeCode;
  }
}

/** A group of a job that lacks allocations, and why no node takes them. */
export interface UnplacedGroup {
  readonly group: string;
  /** The wanted allocations and their outcome. */
  readonly summary: string;
  readonly reason: string;
}

/** A wait without the state that it was for. */
export class WaitError extends ClientError {
  static override readonly kind = 'WaitError';
  override readonly name = 'WaitError';
  /** `timeout`: it took too long. `unreachable`: the record is in a final state, and not in the wanted one. */
  readonly reason: 'timeout' | 'unreachable';
  /** The newest record that was read. */
  readonly last: unknown;
  /** Of a job: its groups that lack allocations. */
  readonly unplaced: readonly UnplacedGroup[];

  constructor(
    reason: WaitError['reason'],
    sentence: string,
    seen: { readonly last?: unknown; readonly unplaced?: readonly UnplacedGroup[] } = {},
  ) {
    super(sentence);
    this.reason = reason;
    this.last = seen.last;
    this.unplaced = seen.unplaced ?? [];
  }
}

/** The server has ended the stream of events, or has forgotten some of them. */
export class EventStreamError extends ClientError {
  static override readonly kind = 'EventStreamError';
  override readonly name = 'EventStreamError';
  /** A code of the server's catalogue, or `events-missed`. */
  readonly code: string;

  constructor(code: string, sentence: string) {
    super(sentence);
    this.code = code;
  }
}

export const isMissing = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 404;

/** The connection ended after the request was sent, so nobody knows whether it was run. */
export const isLost = (error: unknown): boolean =>
  error instanceof ConnectionError && lost.has(error.code);

const lost: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** There was no connection to the server, or it refused to open a WebSocket. */
export const isNeverSent = (error: unknown): boolean =>
  error instanceof ConnectionError && (unreached.has(error.code) || isOfCertificate(error.code));

const unreached: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'no-web-socket',
]);

/** The certificate is not trusted. Nothing is sent before it is. */
const isOfCertificate = (code: string): boolean =>
  /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|ERR_TLS_)/.test(code);

/** Explains a network error to the user. */
export function connectionError(address: string, cause: unknown): ConnectionError {
  const { code = '', message = String(cause) } = rootOf(cause);
  return new ConnectionError(address, code, explain(address, code, message), cause);
}

/** The first error with a code. Errors wrap others, and each address that was tried has its own. */
function rootOf(error: unknown): { code?: string; message?: string } {
  const { code, cause, errors, message } = (error ?? {}) as {
    code?: string;
    cause?: unknown;
    errors?: unknown[];
    message?: string;
  };
  if (code !== undefined) return message === undefined ? { code } : { code, message };
  if (cause !== undefined) return rootOf(cause);
  if (Array.isArray(errors) && errors.length > 0) return rootOf(errors[0]);
  return message === undefined ? {} : { message };
}

const pointElsewhere = 'point ROSTER_ADDR (or --address) at one that is';

const sentences: Readonly<Record<string, (address: string) => string>> = {
  ECONNREFUSED: (address) =>
    `Nothing listens at ${address}. Is the agent running? Start one with "roster agent --dev", or ${pointElsewhere}.`,
  ENOTFOUND: (address) =>
    `The host name in ${address} is not known. Check ROSTER_ADDR or --address.`,
  EAI_AGAIN: (address) =>
    `The host name in ${address} could not be looked up. Check the network, ROSTER_ADDR or --address.`,
  ECONNRESET: (address) => `${address} closed the connection before it answered. Is it an agent?`,
  UND_ERR_SOCKET: (address) =>
    `${address} closed the connection in the middle of its answer. Is the agent still running, and does it want https://?`,
  UND_ERR_CONNECT_TIMEOUT: (address) =>
    `${address} did not accept a connection in time. Is the machine up and the port open? If not, ${pointElsewhere}.`,
  UND_ERR_HEADERS_TIMEOUT: (address) =>
    `${address} took the request and did not answer in time. Try again, or look at the agent's log.`,
  UND_ERR_BODY_TIMEOUT: (address) =>
    `${address} stopped in the middle of its answer. Try again, or look at the agent's log.`,
  EHOSTUNREACH: (address) => `There is no way to the host of ${address}. Check the network.`,
  ENETUNREACH: (address) => `There is no way to the network of ${address}. Check the network.`,
};

function explain(address: string, code: string, message: string): string {
  const known = sentences[code];
  if (known !== undefined) return known(address);
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO') {
    return `${address} does not speak TLS. Try the address with http:// instead of https://.`;
  }
  if (isOfCertificate(code)) {
    return `The certificate of ${address} is not trusted (${message.split(';')[0]}). Name the file of its certificate authority in ROSTER_CACERT or --ca-cert.`;
  }
  if (code.startsWith('HPE_')) {
    return `${address} does not answer in HTTP. Check the port, and whether it wants https://.`;
  }
  return `${address} could not be reached: ${message}${code === '' ? '' : ` (${code})`}.`;
}
