import type { Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import {
  FrameFault,
  type HandshakeFrame,
  parseHandshakeFrame,
  type RefusalCode,
  type StreamFrame,
} from '../../model/peering/frames.ts';
import type { PeeringLink } from './link.ts';

/** The link has ended, or has to end. The message ends a sentence. */
export class HungUp extends Error {
  override readonly name = 'HungUp';
}

/** The other side refused, with a reason. */
export class PeerRefusal extends Error {
  override readonly name = 'PeerRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, reason: string) {
    super(reason);
    this.code = code;
  }
}

/** The frames of a link: one after the other during a handshake, and then as they come. */
export class Wire {
  readonly closed: Promise<string>;
  readonly #link: PeeringLink;
  readonly #timers: Timers;
  readonly #waiting: string[] = [];
  #take: ((text: string) => void) | undefined;
  #wake: () => void = () => {};
  #closedFor: string | undefined;
  /** This side has hung up: later frames are ignored. */
  #isClosing = false;

  constructor(link: PeeringLink, timers: Timers) {
    this.#link = link;
    this.#timers = timers;
    link.onFrame((text) => this.#receiveFrame(text));
    this.closed = link.closed.then((reason) => {
      this.#closedFor = reason;
      this.#wake();
      return reason;
    });
  }

  /** `false`: the link is not open any more. */
  send(frame: HandshakeFrame | StreamFrame): boolean {
    return this.sendText(JSON.stringify(frame));
  }

  sendText(text: string): boolean {
    return this.#closedFor === undefined && this.#link.send(text);
  }

  get waitingBytes(): number {
    return this.#link.waitingBytes;
  }

  /**
   * The next frame of a handshake, which has to be of this type.
   * @throws FrameFault, PeerRefusal, HungUp
   */
  async next<T extends HandshakeFrame['type']>(
    types: readonly T[],
    timeoutMs: number,
  ): Promise<HandshakeFrame & { readonly type: T }> {
    const frame = parseHandshakeFrame(await this.#nextText(timeoutMs));
    if ((types as readonly string[]).includes(frame.type)) {
      return frame as HandshakeFrame & { readonly type: T };
    }
    if (frame.type === 'refused') throw new PeerRefusal(frame.code, frame.reason);
    throw new FrameFault(`a frame "${frame.type}" came where none was expected`);
  }

  /** From now on each frame goes to `take`, beginning with those that wait. */
  follow(take: (text: string) => void): void {
    this.#take = take;
    for (const text of this.#waiting.splice(0)) take(text);
  }

  /** Sends a reason, and hangs up. */
  refuse(code: RefusalCode, reason: string): void {
    this.send({ type: 'refused', code, reason });
    this.close(reason);
  }

  close(reason: string): void {
    this.#isClosing = true;
    this.#waiting.length = 0;
    this.#link.close(reason);
    this.#wake();
  }

  async #nextText(timeoutMs: number): Promise<string> {
    let isLate = false;
    const timer = this.#timers.after(timeoutMs, () => {
      isLate = true;
      this.#wake();
    });
    try {
      for (;;) {
        const text = this.#waiting.shift();
        if (text !== undefined) return text;
        if (this.#closedFor !== undefined) throw new HungUp(this.#closedFor);
        if (this.#isClosing) throw new HungUp('this side hung up');
        if (isLate) throw new HungUp(`it said nothing for ${timeoutMs / 1000} s`);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      timer.clear();
    }
  }

  #receiveFrame(text: string): void {
    if (this.#isClosing) return;
    if (this.#take !== undefined) {
      this.#take(text);
      return;
    }
    this.#waiting.push(text);
    if (this.#waiting.length > limits.peering.handshakeFramesMax) {
      this.close('too many frames came before it was known who sends them');
    }
    this.#wake();
  }
}
