import type { World } from '../../src/base/ports.ts';
import type { PeeringLink, PeeringTransport } from '../../src/server/peering/link.ts';

/** A link, seen from the middle. */
export interface Tapped {
  readonly from: string;
  readonly to: string;
  /** All frames with their senders. */
  readonly frames: { readonly by: 'dialer' | 'acceptor'; readonly text: string }[];
  readonly isOpen: () => boolean;
  /** Closes the link for both sides. */
  cut(): void;
  /** Sends a frame in the name of a side. */
  inject(by: 'dialer' | 'acceptor', text: string): void;
}

/** Changes a frame on its way; `undefined`: the frame is lost. */
export type Tamper = (text: string, by: 'dialer' | 'acceptor') => string | undefined;

/** The network between clusters of a simulated world. Links can be observed, changed and cut. */
export class PeerNetwork {
  readonly links: Tapped[] = [];
  /** Listeners by address. */
  readonly #listening = new Map<string, (link: PeeringLink) => void>();
  readonly #unreachable = new Set<string>();
  readonly #timers: World['timers'];
  tamper: Tamper = (text) => text;
  /** Frames are dropped while links stay open. */
  isSilent = false;
  /** The number of dials. */
  dialled = 0;

  constructor(world: Pick<World, 'timers'>) {
    this.#timers = world.timers;
  }

  listen(address: string, take: (link: PeeringLink) => void): void {
    this.#listening.set(address, take);
  }

  /** Stops the listener at `address` and closes all links of `who`. */
  leave(who: string, address = who): void {
    this.#listening.delete(address);
    for (const link of this.links) if ([link.from, link.to].includes(who)) link.cut();
  }

  /** Separates `who` from all others. */
  partition(who: string): void {
    this.#unreachable.add(who);
    for (const link of this.links) if ([link.from, link.to].includes(who)) link.cut();
  }

  heal(): void {
    this.#unreachable.clear();
  }

  get open(): readonly Tapped[] {
    return this.links.filter((link) => link.isOpen());
  }

  transport(from: string): PeeringTransport {
    return {
      dial: async (address) => {
        this.dialled++;
        await new Promise<void>((resolve) => void this.#timers.after(1, resolve));
        const take = this.#listening.get(address);
        const isCut = [from, address].some((end) => this.#unreachable.has(end));
        if (take === undefined || isCut) throw new Error('nothing listens there');
        const { near, far } = this.#connect(from, address);
        take(far);
        return near;
      },
    };
  }

  /** A link whose frames the test writes. */
  async stranger(address: string) {
    const link = await this.transport('stranger').dial(address, {
      caPems: [],
      timeoutMs: 1000,
      signal: new AbortController().signal,
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape.
    const heard: any[] = [];
    link.onFrame((text) => heard.push(JSON.parse(text)));
    const say = (frame: unknown) =>
      link.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
    return { link, heard, say };
  }

  #connect(from: string, to: string) {
    let isOpen = true;
    const frames: Tapped['frames'] = [];
    const ends = { dialer: new End(), acceptor: new End() };
    const close = (reason: string) => {
      isOpen = false;
      ends.dialer.close(reason);
      ends.acceptor.close(reason);
    };
    const side = (by: 'dialer' | 'acceptor'): PeeringLink => {
      const other = ends[by === 'dialer' ? 'acceptor' : 'dialer'];
      return {
        closed: ends[by].closed,
        waitingBytes: 0,
        onFrame: (take) => ends[by].follow(take),
        send: (text) => {
          if (!isOpen) return false;
          frames.push({ by, text });
          this.#timers.after(1, () => {
            const arrives = this.isSilent ? undefined : this.tamper(text, by);
            if (arrives !== undefined) other.take(arrives);
          });
          return true;
        },
        // Frames sent before still arrive.
        close: (reason) => {
          if (!isOpen) return;
          isOpen = false;
          ends[by].close(reason);
          this.#timers.after(2, () => other.close(reason));
        },
      };
    };
    const cut = () => close('the connection was lost');
    const [near, far] = [side('dialer'), side('acceptor')];
    const inject = (by: 'dialer' | 'acceptor', text: string) =>
      void (by === 'dialer' ? near : far).send(text);
    this.links.push({ from, to, frames, isOpen: () => isOpen, cut, inject });
    return { near, far };
  }
}

/** One end of a link. */
class End {
  readonly closed: Promise<string>;
  readonly #close: (reason: string) => void;
  readonly #early: string[] = [];
  #take: ((text: string) => void) | undefined;
  #isClosed = false;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.closed = promise;
    this.#close = resolve;
  }

  follow(take: (text: string) => void): void {
    this.#take = take;
    for (const text of this.#early.splice(0)) take(text);
  }

  take(text: string): void {
    if (this.#isClosed) return;
    if (this.#take === undefined) this.#early.push(text);
    else this.#take(text);
  }

  close(reason: string): void {
    this.#isClosed = true;
    this.#close(reason);
  }
}
