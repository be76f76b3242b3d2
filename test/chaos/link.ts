/**
 * A second address of a port on this machine, with the faults of a network between the two.
 *
 *  1. The bytes of a connection arrive in order, and its end after them.
 *  2. While the link is held nothing arrives; when it is mended, everything does.
 *  3. A late link delivers each piece after the same time.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Piece {
  readonly dueMs: number;
  readonly deliver: () => void;
}

/** Bytes at the beginning of a connection that tell who opened it. */
const openingBytesMost = 4096;

export class Link {
  readonly #listener: Server;
  readonly #flows = new Set<Flow>();
  readonly #port: number;
  #isCut = false;
  #isHeld = false;
  #lateMs = 0;
  #shut: RegExp | undefined;
  /** When bytes came last, on the monotonic clock. */
  usedMs = 0;

  private constructor(port: number) {
    this.#port = port;
    this.#listener = createServer((socket) => this.#accept(socket));
  }

  static async to(port: number): Promise<Link> {
    const link = new Link(port);
    link.#listener.listen(0, '127.0.0.1');
    await once(link.#listener, 'listening');
    return link;
  }

  get address(): string {
    return `127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  /** Ends all connections, and each new one. */
  cut(): void {
    this.#isCut = true;
    this.#endFlows(() => true);
  }

  /** Ends connections that begin with such a text, old and new ones. */
  shut(opening: RegExp): void {
    this.#shut = opening;
    this.#endFlows(({ opening: text }) => opening.test(text));
  }

  hold(): void {
    this.#isHeld = true;
  }

  delay(lateMs: number): void {
    this.#lateMs = lateMs;
  }

  mend(): void {
    this.#isCut = false;
    this.#isHeld = false;
    this.#lateMs = 0;
    this.#shut = undefined;
    for (const flow of this.#flows) flow.deliverDue();
  }

  async close(): Promise<void> {
    this.cut();
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  #accept(client: Socket): void {
    if (this.#isCut) {
      client.on('error', () => {}).destroy();
      return;
    }
    const server = connect(this.#port, '127.0.0.1');
    const flow = new Flow(client, server, {
      isHeld: () => this.#isHeld,
      lateMs: () => this.#lateMs,
      used: () => {
        this.usedMs = performance.now();
      },
      isShut: (opening) => this.#shut?.test(opening) === true,
      ended: () => this.#flows.delete(flow),
    });
    this.#flows.add(flow);
  }

  #endFlows(isMeant: (flow: Flow) => boolean): void {
    for (const flow of [...this.#flows]) if (isMeant(flow)) flow.end();
  }
}

interface FlowOptions {
  readonly isHeld: () => boolean;
  readonly lateMs: () => number;
  readonly used: () => void;
  readonly isShut: (opening: string) => boolean;
  readonly ended: () => void;
}

/** A connection through a link. */
class Flow {
  readonly #sockets: readonly [client: Socket, server: Socket];
  readonly #options: FlowOptions;
  #waiting: Piece[] = [];
  #timer: NodeJS.Timeout | undefined;
  opening = '';

  constructor(client: Socket, server: Socket, options: FlowOptions) {
    this.#sockets = [client, server];
    this.#options = options;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay();
      from.on('error', () => from.destroy());
      from.on('data', (bytes: Buffer) => {
        options.used();
        if (from === client && this.#opens(bytes)) return;
        this.#deliverLater(() => to.write(bytes));
      });
      from.on('close', () => this.#deliverLater(() => this.end()));
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#waiting = [];
    for (const socket of this.#sockets) socket.destroy();
    this.#options.ended();
  }

  deliverDue(): void {
    clearTimeout(this.#timer);
    if (this.#options.isHeld()) return;
    const nowMs = performance.now();
    for (;;) {
      const piece = this.#waiting[0];
      if (piece === undefined) return;
      if (piece.dueMs > nowMs) {
        this.#timer = setTimeout(() => this.deliverDue(), piece.dueMs - nowMs);
        return;
      }
      this.#waiting.shift();
      piece.deliver();
    }
  }

  /** Takes in the beginning of the connection. Returns whether that ended it. */
  #opens(bytes: Buffer): boolean {
    if (this.opening.length < openingBytesMost) this.opening += bytes.toString('latin1');
    if (!this.#options.isShut(this.opening)) return false;
    this.end();
    return true;
  }

  #deliverLater(deliver: () => void): void {
    const last = this.#waiting.at(-1)?.dueMs ?? 0;
    const dueMs = Math.max(last, performance.now() + this.#options.lateMs());
    this.#waiting.push({ dueMs, deliver });
    this.deliverDue();
  }
}
