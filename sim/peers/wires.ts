/**
 * The connections between clusters. Like TCP, they deliver messages whole and in order, and send lost
 * messages again. After a while the sender gives up, and the other side may learn of it much later.
 *
 * 1. No message crosses a line that is cut.
 * 2. When a program dies, the other side learns of it with the next message that gets through.
 * 3. An eavesdropper may repeat the first messages of a connection (`replay`).
 */
import type { Random } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { DialOptions, PeeringLink, PeeringTransport } from '../../src/server/peering/link.ts';
import type { Process } from '../process.ts';
import { type Carrier, Connection } from './connection.ts';

/** A server that takes connections. */
export interface Host {
  readonly process: Process;
  takeLink(link: PeeringLink): void;
}

export interface WiresOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  /** The running server of a cluster. */
  readonly hostOf: (cluster: string) => Host | undefined;
}

/** A connection between two clusters. */
interface Opened {
  readonly from: string;
  readonly to: string;
  /** The first messages of the dialer. */
  readonly first: string[];
  /** Whether the dialer is an eavesdropper. */
  readonly isReplay: boolean;
}

/** A message, even if it is lost on the way. */
export interface Sent {
  /** The connection: the same object for all its messages. */
  readonly on: object;
  readonly byDialer: boolean;
  /** Whether the dialer of the connection is an eavesdropper. */
  readonly isReplay: boolean;
  readonly text: string;
}

export const addressOf = (cluster: string): string => `${cluster}:4720`;

const latencyMaxMs = 20;
const patienceMs = 10_000;
/** Connections that the eavesdropper remembers, and messages of each. */
const heardMax = 32;
const firstMax = 4;

export class Wires {
  /** Share of messages that are lost and sent again. */
  lossShare = 0;
  onSent: (sent: Sent) => void = () => {};
  readonly #options: WiresOptions;
  readonly #cuts = new Map<string, number>();
  readonly #heard: Opened[] = [];

  constructor(options: WiresOptions) {
    this.#options = options;
  }

  /** Cuts the line between two clusters until the result is called. */
  cut(one: string, other: string): () => void {
    const line = lineOf(one, other);
    this.#cuts.set(line, (this.#cuts.get(line) ?? 0) + 1);
    return () => this.#cuts.set(line, this.#cuts.get(line)! - 1);
  }

  #isCut(one: string, other: string): boolean {
    return (this.#cuts.get(lineOf(one, other)) ?? 0) > 0;
  }

  /** The transport of a program in the cluster `from`. */
  transportOf(from: string, dialer: Process): PeeringTransport {
    return {
      dial: (address, options) => {
        const opened = { from, to: address.split(':')[0]!, first: [], isReplay: false };
        return this.#dial(opened, dialer, options);
      },
    };
  }

  /** Repeats the first messages of a remembered connection on a new connection. */
  async replay(dialer: Process): Promise<boolean> {
    const heard = this.#heard[this.#options.random.below(Math.max(this.#heard.length, 1))];
    if (heard === undefined) return false;
    const { from, to, first } = heard;
    const signal = new AbortController().signal;
    const dialled = this.#dial({ from, to, first: [], isReplay: true }, dialer, {
      caPems: [],
      timeoutMs: patienceMs,
      signal,
    });
    const link = await dialled.catch(() => undefined);
    if (link === undefined) return false;
    link.onFrame(() => {});
    for (const text of first) link.send(text);
    return true;
  }

  #dial(opened: Opened, dialer: Process, { timeoutMs, signal }: DialOptions): Promise<PeeringLink> {
    const { hostOf } = this.#options;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (act: () => void) => {
        if (isOver) return;
        isOver = true;
        patience.clear();
        signal.removeEventListener('abort', abort);
        dialer.post(act);
      };
      const fail = (reason: string) => end(() => reject(new Error(reason)));
      const abort = () => fail('it was given up');
      signal.addEventListener('abort', abort);
      const patience = dialer.world.timers.after(timeoutMs, () => fail('it timed out'));
      this.#carryMessage(opened, () => {
        if (isOver || !dialer.isAlive) return;
        const host = hostOf(opened.to);
        if (host === undefined) return this.#carryMessage(opened, () => fail('connection refused'));
        const connection = new Connection(dialer, host.process, this.#carrier(opened));
        if (!opened.isReplay) this.#rememberConnection(opened);
        host.process.post(() => host.takeLink(connection.acceptor));
        this.#carryMessage(opened, () => end(() => resolve(connection.dialer)));
      });
    });
  }

  #rememberConnection(opened: Opened): void {
    this.#heard.push(opened);
    if (this.#heard.length > heardMax) this.#heard.shift();
  }

  #carrier(opened: Opened): Carrier {
    return {
      sent: (text, byDialer) => {
        if (byDialer && opened.first.length < firstMax) opened.first.push(text);
        this.onSent({ on: opened, byDialer, isReplay: opened.isReplay, text });
      },
      tries: () => this.#tries(opened),
      after: (delayMs, run) => void this.#options.world.timers.after(delayMs, run),
      latencyMs: () => this.#latencyMs(),
    };
  }

  #latencyMs(): number {
    return 0.2 + this.#options.random.fraction() * latencyMaxMs;
  }

  /** Whether an attempt to send gets through. */
  #tries({ from, to }: Opened): boolean {
    if (this.#isCut(from, to)) return false;
    return this.lossShare === 0 || this.#options.random.fraction() >= this.lossShare;
  }

  /** Carries a message that opens a connection, which is not sent again. */
  #carryMessage(opened: Opened, arrive: () => void): void {
    if (!this.#tries(opened)) return;
    this.#options.world.timers.after(this.#latencyMs(), () => {
      if (!this.#isCut(opened.from, opened.to)) arrive();
    });
  }
}

const lineOf = (one: string, other: string): string => [one, other].sort().join(' ');
