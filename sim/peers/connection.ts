import type { PeeringLink } from '../../src/server/peering/link.ts';
import type { Process } from '../process.ts';

const againMinMs = 200;
/** A connection ends after this time without progress. */
const givenUpMs = 20_000;

/** The line below a connection. */
export interface Carrier {
  /** A side sent a message, which may be lost. */
  readonly sent: (text: string, byDialer: boolean) => void;
  /** Whether an attempt to send gets through. */
  readonly tries: () => boolean;
  readonly after: (delayMs: number, run: () => void) => void;
  readonly latencyMs: () => number;
}

/** A connection of two programs, which lasts until one of them closes it, dies or gives up. */
export class Connection {
  readonly dialer: End;
  readonly acceptor: End;

  constructor(dialer: Process, acceptor: Process, carrier: Carrier) {
    this.dialer = new End(dialer, carrier, true);
    this.acceptor = new End(acceptor, carrier, false);
    this.dialer.join(this.acceptor);
    this.acceptor.join(this.dialer);
  }
}

/** A message on its way: a frame, or the end of the connection with its reason. */
interface Message {
  readonly text: string | undefined;
  readonly reason: string;
}

class End implements PeeringLink {
  readonly closed: Promise<string>;
  #other!: End;
  #take: ((text: string) => void) | undefined;
  #isOver = false;
  #isCarrying = false;
  #close!: (reason: string) => void;
  /** Messages on their way to the other side. */
  readonly #outbox: Message[] = [];
  /** Frames that arrived before somebody listened. */
  readonly #early: string[] = [];
  readonly #process: Process;
  readonly #carrier: Carrier;
  readonly #byDialer: boolean;

  constructor(process: Process, carrier: Carrier, byDialer: boolean) {
    this.#process = process;
    this.#carrier = carrier;
    this.#byDialer = byDialer;
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
    process.onDeath(() => this.close('the program died'));
  }

  join(other: End): void {
    this.#other = other;
  }

  get waitingBytes(): number {
    return this.#outbox.reduce((bytes, { text }) => bytes + (text?.length ?? 0), 0);
  }

  send(text: string): boolean {
    if (this.#isOver) return false;
    this.#carrier.sent(text, this.#byDialer);
    this.#enqueue({ text, reason: '' });
    return true;
  }

  onFrame(take: (text: string) => void): void {
    this.#take = take;
    for (const text of this.#early.splice(0)) take(text);
  }

  close(reason: string): void {
    if (this.#isOver) return;
    this.#endSide(reason);
    this.#enqueue({ text: undefined, reason: 'the other side closed it' });
  }

  #endSide(reason: string): void {
    this.#isOver = true;
    this.#process.post(() => this.#close(reason));
  }

  #enqueue(message: Message): void {
    this.#outbox.push(message);
    if (!this.#isCarrying) this.#carryFirst(againMinMs, 0);
  }

  /** Sends the first message until it gets through, then the next one. */
  #carryFirst(againMs: number, spentMs: number): void {
    const [message] = this.#outbox;
    this.#isCarrying = message !== undefined;
    if (message === undefined) return;
    if (this.#carrier.tries()) {
      this.#carrier.after(this.#carrier.latencyMs(), () => {
        this.#outbox.shift();
        this.#other.#receiveMessage(message);
        this.#carryFirst(againMinMs, 0);
      });
      return;
    }
    if (spentMs >= givenUpMs) {
      this.#outbox.length = 0;
      this.#isCarrying = false;
      if (!this.#isOver) this.#endSide('it timed out');
      return;
    }
    this.#carrier.after(againMs, () => this.#carryFirst(2 * againMs, spentMs + againMs));
  }

  #receiveMessage({ text, reason }: Message): void {
    if (this.#isOver) {
      // A sender learns that the connection is gone.
      if (text !== undefined) this.#enqueue({ text: undefined, reason: 'connection reset' });
      return;
    }
    if (text === undefined) this.#endSide(reason);
    else
      this.#process.post(() => {
        if (this.#isOver) return;
        if (this.#take === undefined) this.#early.push(text);
        else this.#take(text);
      });
  }
}
