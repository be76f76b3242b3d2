/**
 * The connections between clusters. They are like TCP's: what arrives is whole and in order, what is
 * lost on the way is sent again for a while, and then the connection is over for its sender, while
 * the other side may hear nothing of that for long.
 *
 * 1. Nothing passes between two clusters whose line is cut.
 * 2. When a program dies, its connections end: at once for itself, and for the other side as soon as
 *    something passes.
 * 3. Somebody who listens on the line may say again what was said once (`replay`).
 */
import type { Random } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { DialOptions, PeeringLink, PeeringTransport } from '../../src/server/peering/link.ts';
import type { Process } from '../process.ts';
import { type Carrier, Connection } from './connection.ts';

/** A server that takes links. */
export interface Host {
  readonly process: Process;
  takeLink(link: PeeringLink): void;
}

export interface WiresOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  /** The server of a cluster, if it runs. */
  readonly hostOf: (cluster: string) => Host | undefined;
}

/** A connection between two clusters, and what the one who dialled said first. */
interface Opened {
  readonly from: string;
  readonly to: string;
  readonly said: string[];
  /** Opened by somebody who repeats what others said. */
  readonly isStrange: boolean;
}

/** A word that passes, whether it arrives or not. */
export interface Said {
  /** The connection: the same object for all its words. */
  readonly on: object;
  readonly byDialer: boolean;
  /** To somebody who repeats what others said. */
  readonly isStrange: boolean;
  readonly text: string;
}

export const addressOf = (cluster: string): string => `${cluster}:4720`;

const latencyMaxMs = 20;
const patienceMs = 10_000;
/** Connections whose words are remembered, and how many of each. */
const heardMax = 32;
const wordsMax = 4;

export class Wires {
  /** Of all messages that pass: each has to be sent again so often. */
  lossShare = 0;
  onSaid: (said: Said) => void = () => {};
  readonly #options: WiresOptions;
  readonly #cuts = new Map<string, number>();
  readonly #heard: Opened[] = [];

  constructor(options: WiresOptions) {
    this.#options = options;
  }

  /** Nothing passes between the two until the result is called. */
  cut(one: string, other: string): () => void {
    const line = lineOf(one, other);
    this.#cuts.set(line, (this.#cuts.get(line) ?? 0) + 1);
    return () => this.#cuts.set(line, this.#cuts.get(line)! - 1);
  }

  #isCut(one: string, other: string): boolean {
    return (this.#cuts.get(lineOf(one, other)) ?? 0) > 0;
  }

  /** The way out of a program of the cluster `from`. */
  transportOf(from: string, dialer: Process): PeeringTransport {
    return {
      dial: (address, options) =>
        this.#dial(
          { from, to: address.split(':')[0]!, said: [], isStrange: false },
          dialer,
          options,
        ),
    };
  }

  /** Says to a server what another one said to it once, on a connection of its own. */
  async replay(dialer: Process): Promise<boolean> {
    const heard = this.#heard[this.#options.random.below(Math.max(this.#heard.length, 1))];
    if (heard === undefined) return false;
    const { from, to, said } = heard;
    const signal = new AbortController().signal;
    const dialled = this.#dial({ from, to, said: [], isStrange: true }, dialer, {
      ...{ caPems: [], timeoutMs: patienceMs, signal },
    });
    const link = await dialled.catch(() => undefined);
    if (link === undefined) return false;
    link.onFrame(() => {});
    for (const text of said) link.send(text);
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
      this.#carry(opened, () => {
        if (isOver || !dialer.isAlive) return;
        const host = hostOf(opened.to);
        if (host === undefined) return this.#carry(opened, () => fail('connection refused'));
        const connection = new Connection(dialer, host.process, this.#carrier(opened));
        if (!opened.isStrange) this.#remember(opened);
        host.process.post(() => host.takeLink(connection.acceptor));
        this.#carry(opened, () => end(() => resolve(connection.dialer)));
      });
    });
  }

  #remember(opened: Opened): void {
    this.#heard.push(opened);
    if (this.#heard.length > heardMax) this.#heard.shift();
  }

  #carrier(opened: Opened): Carrier {
    return {
      said: (text, byDialer) => {
        if (byDialer && opened.said.length < wordsMax) opened.said.push(text);
        this.onSaid({ on: opened, byDialer, isStrange: opened.isStrange, text });
      },
      tries: () => this.#tries(opened),
      after: (delayMs, run) => void this.#options.world.timers.after(delayMs, run),
      latencyMs: () => this.#latencyMs(),
    };
  }

  #latencyMs(): number {
    return 0.2 + this.#options.random.fraction() * latencyMaxMs;
  }

  /** Whether something passes just now. */
  #tries({ from, to }: Opened): boolean {
    if (this.#isCut(from, to)) return false;
    return this.lossShare === 0 || this.#options.random.fraction() >= this.lossShare;
  }

  /** One message outside of a connection, if it gets through. */
  #carry(opened: Opened, arrive: () => void): void {
    if (!this.#tries(opened)) return;
    this.#options.world.timers.after(this.#latencyMs(), () => {
      if (!this.#isCut(opened.from, opened.to)) arrive();
    });
  }
}

const lineOf = (one: string, other: string): string => [one, other].sort().join(' ');
