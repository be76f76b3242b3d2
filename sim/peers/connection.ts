import type { PeeringLink } from '../../src/server/peering/link.ts';
import type { Process } from '../process.ts';

const againMinMs = 200;
/** What is not through by then never gets through. */
const givenUpMs = 20_000;

/** What carries the words of a connection. */
export interface Carrier {
  readonly said: (text: string, byDialer: boolean) => void;
  readonly tries: () => boolean;
  /** After the time that a word takes. */
  readonly after: (delayMs: number, run: () => void) => void;
  readonly latencyMs: () => number;
}

/** Two programs that are connected, until one hangs up, dies or gives up. */
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

/** What one side has not heard yet: words, and then perhaps that the other one is gone. */
interface Word {
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
  /** On their way to the other side. */
  readonly #way: Word[] = [];
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
    return this.#way.reduce((bytes, { text }) => bytes + (text?.length ?? 0), 0);
  }

  send(text: string): boolean {
    if (this.#isOver) return false;
    this.#carrier.said(text, this.#byDialer);
    this.#put({ text, reason: '' });
    return true;
  }

  onFrame(take: (text: string) => void): void {
    this.#take = take;
    for (const text of this.#early.splice(0)) take(text);
  }

  close(reason: string): void {
    if (this.#isOver) return;
    this.#over(reason);
    this.#put({ text: undefined, reason: 'the other side closed it' });
  }

  #over(reason: string): void {
    this.#isOver = true;
    this.#process.post(() => this.#close(reason));
  }

  #put(word: Word): void {
    this.#way.push(word);
    if (!this.#isCarrying) this.#carry(againMinMs, 0);
  }

  /** The first word, until it is through or given up; then the next one. */
  #carry(againMs: number, spentMs: number): void {
    const [word] = this.#way;
    this.#isCarrying = word !== undefined;
    if (word === undefined) return;
    if (this.#carrier.tries()) {
      this.#carrier.after(this.#carrier.latencyMs(), () => {
        this.#way.shift();
        this.#other.#hear(word);
        this.#carry(againMinMs, 0);
      });
      return;
    }
    if (spentMs >= givenUpMs) {
      this.#way.length = 0;
      this.#isCarrying = false;
      if (!this.#isOver) this.#over('it timed out');
      return;
    }
    this.#carrier.after(againMs, () => this.#carry(2 * againMs, spentMs + againMs));
  }

  #hear({ text, reason }: Word): void {
    if (this.#isOver) {
      // Whoever speaks to somebody who is gone learns of it.
      if (text !== undefined) this.#put({ text: undefined, reason: 'connection reset' });
      return;
    }
    if (text === undefined) this.#over(reason);
    else
      this.#process.post(() => {
        if (this.#isOver) return;
        if (this.#take === undefined) this.#early.push(text);
        else this.#take(text);
      });
  }
}
