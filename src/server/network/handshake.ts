import type { Secrets, Timer, Timers } from '../../base/ports.ts';
import type { StreamSocket } from '../../model/node-stream/stream-connection.ts';
import { networkLimits } from './limits.ts';
import { type Challenge, type Hello, type Introduction, proofOf, type Side } from './proof.ts';

/** The reason why a server refuses another one. */
export type HandshakeRefusal = 'root-key' | 'other-server' | 'malformed' | 'timeout' | 'closed';

/** The connection ended before the proof was complete. The message ends a sentence. */
export class HandshakeFailure extends Error {
  override readonly name = 'HandshakeFailure';
  readonly code: HandshakeRefusal;
  /** The server at the other end, as far as it introduced itself. */
  readonly peer: Introduction | undefined;

  constructor(code: HandshakeRefusal, reason: string, peer?: Introduction) {
    super(reason);
    this.code = code;
    this.peer = peer;
  }
}

export interface HandshakeOptions {
  readonly socket: StreamSocket;
  readonly side: Side;
  /** Made from the root key (`proofKey`). */
  readonly key: Uint8Array;
  readonly self: Introduction;
  /** Keying material of the TLS session; empty without TLS. */
  readonly binding: string;
  readonly secrets: Pick<Secrets, 'bytes' | 'equal'>;
  readonly timers: Timers;
  /** The server that has to be at the other end; `undefined`: any server. */
  readonly expects?: string | undefined;
  /** Replaces the proof. Only tests set it, to show the attack that the proof prevents. */
  readonly prove?: typeof proofOf;
}

/** Not in limits: as many bytes as the hash has. */
const nonceBytes = 32;

/** Close codes of RFC 6455. */
const policyViolation = 1008;

/** The outcome of a handshake: exactly one of the two functions is called. */
export interface HandshakeOutcome {
  /**
   * The other side has proven the key. Called in the turn of its last message, so that all later messages
   * belong to the caller.
   */
  readonly proven: (peer: Introduction) => void;
  readonly failed: (failure: HandshakeFailure) => void;
}

/** Proves the root key to the server at the other end of a new connection, and has it proven. */
export const introduce = (options: HandshakeOptions, outcome: HandshakeOutcome): void =>
  new Handshake(options, outcome).begin();

type Message = Readonly<Record<string, unknown>>;

/**
 * Invariants
 *  P1. Nothing but the messages of the handshake is read before the other side has proven the key.
 *  P2. Each side adds a nonce of its own, so a recorded handshake proves nothing later.
 *  P3. A proof names its side, both servers and the TLS session, so it is of no use elsewhere.
 */
class Handshake {
  readonly #options: HandshakeOptions;
  readonly #outcome: HandshakeOutcome;
  readonly #own: Hello;
  readonly #late: Timer;
  #peer: Hello | undefined;
  #isOver = false;

  constructor(options: HandshakeOptions, outcome: HandshakeOutcome) {
    this.#options = options;
    this.#outcome = outcome;
    const { timers, self, secrets } = options;
    this.#own = { ...self, nonce: Buffer.from(secrets.bytes(nonceBytes)).toString('base64') };
    this.#late = timers.after(networkLimits.handshakeTimeoutMs, () =>
      this.#failWith('timeout', 'it does not answer'),
    );
  }

  begin(): void {
    const { socket, side, expects } = this.#options;
    socket.onClose((reason) => this.#failWith('closed', reason));
    if (side === 'dialer') this.#send({ hello: this.#own, to: expects });
    socket.onMessage((message) => this.#receiveMessage(message));
  }

  #receiveMessage(message: string | Uint8Array): void {
    if (this.#isOver) return;
    const { handshakeMessageBytesMax } = networkLimits;
    if (typeof message !== 'string' || message.length > handshakeMessageBytesMax) {
      this.#refusePeer('malformed', 'it sent something else than an introduction');
      return;
    }
    const parsed = parse(message);
    if (parsed === undefined) this.#refusePeer('malformed', 'it sent no JSON object');
    else if (typeof parsed.refused === 'string') this.#takeRefusal(parsed);
    else if (this.#options.side === 'dialer') this.#answerAcceptor(parsed);
    else this.#answerDialer(parsed);
  }

  /** A dialer hears the introduction of the acceptor with its proof, and then that it is welcome. */
  #answerAcceptor(message: Message): void {
    if (this.#peer !== undefined) {
      if (message.welcome === true) this.#succeed(this.#peer);
      else this.#refusePeer('malformed', 'it sent something else than a welcome');
      return;
    }
    if (!this.#meetPeer(message) || !this.#checkProof('acceptor', message.proof)) return;
    this.#send({ proof: this.#proofOf('dialer') });
  }

  /** An acceptor hears the introduction of the dialer, and then its proof. */
  #answerDialer(message: Message): void {
    if (this.#peer !== undefined) {
      if (!this.#checkProof('dialer', message.proof)) return;
      this.#send({ welcome: true });
      this.#succeed(this.#peer);
      return;
    }
    const { to } = message;
    if (typeof to === 'string' && to !== this.#own.id) {
      this.#refusePeer('other-server', `this is the server ${this.#own.id}`);
      return;
    }
    if (!this.#meetPeer(message)) return;
    this.#send({ hello: this.#own, proof: this.#proofOf('acceptor') });
  }

  /** Takes the introduction of the other side. */
  #meetPeer({ hello }: Message): boolean {
    const peer = helloIn(hello);
    if (peer === undefined) {
      this.#refusePeer('malformed', 'it did not introduce itself');
      return false;
    }
    const { expects } = this.#options;
    if (peer.id === this.#own.id) this.#refusePeer('other-server', 'it claims to be this server');
    else if (expects !== undefined && peer.id !== expects) {
      this.#refusePeer('other-server', 'another server answers at that address');
    } else {
      this.#peer = peer;
      return true;
    }
    return false;
  }

  #checkProof(side: Side, proof: unknown): boolean {
    if (typeof proof !== 'string') {
      this.#refusePeer('malformed', 'it did not prove the root key');
      return false;
    }
    if (this.#options.secrets.equal(proof, this.#proofOf(side))) return true;
    this.#refusePeer('root-key', 'it has another root key');
    return false;
  }

  #proofOf(side: Side): string {
    const { key, binding, prove = proofOf } = this.#options;
    const isDialer = this.#options.side === 'dialer';
    const [dialer, acceptor] = isDialer ? [this.#own, this.#peer!] : [this.#peer!, this.#own];
    const challenge: Challenge = { dialer, acceptor, binding };
    return prove(key, side, challenge);
  }

  #takeRefusal({ refused, reason }: Message): void {
    const code = refused === 'root-key' || refused === 'other-server' ? refused : 'malformed';
    const told = typeof reason === 'string' ? `: ${reason}` : '';
    this.#failWith(code, `it refused this server${told}`);
  }

  #refusePeer(code: HandshakeRefusal, reason: string): void {
    this.#send({ refused: code, reason });
    this.#failWith(code, reason);
  }

  #failWith(code: HandshakeRefusal, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#late.clear();
    this.#options.socket.close(policyViolation, code);
    const peer = this.#peer && introductionOf(this.#peer);
    this.#outcome.failed(new HandshakeFailure(code, reason, peer));
  }

  #succeed(peer: Hello): void {
    this.#isOver = true;
    this.#late.clear();
    this.#outcome.proven(introductionOf(peer));
  }

  #send(message: Message): void {
    this.#options.socket.sendText(JSON.stringify(message));
  }
}

const introductionOf = ({ id, address, version }: Hello): Introduction => ({
  id,
  address,
  version,
});

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}

function helloIn(value: unknown): Hello | undefined {
  const { id, address, version, nonce } = (value ?? {}) as Message;
  const areTexts = [id, address, version, nonce].every((text) => typeof text === 'string');
  if (!areTexts || id === '' || nonce === '') return undefined;
  return { id, address, version, nonce } as Hello;
}
