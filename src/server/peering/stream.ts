import type { Timer, World } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import {
  FrameFault,
  oneSentence,
  parseStreamFrame,
  type StreamFrame,
} from '../../model/peering/frames.ts';
import type { Side } from '../../model/peering/proof.ts';
import type { StreamKnown } from '../../model/peering/state.ts';
import type { ServerContext } from '../context.ts';
import type { Exchange, ExchangeLink, OpenExchange } from './exchange.ts';
import { Rate } from './rate.ts';
import type { Wire } from './wire.ts';

export interface StreamOptions {
  readonly context: Pick<ServerContext, 'log'> & {
    readonly world: Pick<World, 'clock' | 'timers'>;
  };
  readonly wire: Wire;
  /** Whether this side dials or is dialled. */
  readonly side: Side;
  readonly peering: ExchangeLink['peering'];
  /** The record of the stream, updated as it goes on. */
  readonly known: Mutable<StreamKnown>;
  readonly exchange: Pick<Exchange, 'open'>;
  /** Called when the peer has deleted the peering. Resolves when that is written down. */
  readonly onGoodbye: () => Promise<void>;
  /** Called with new addresses of the peer's servers. */
  readonly onAddresses: (addresses: readonly string[]) => void;
}

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * An open stream between two clusters that have proved to each other who they are.
 *
 * Invariants
 *  S1. Each side sends a heartbeat at least every `heartbeatMs`. A side that is silent for
 *      `silenceMaxMs` is gone.
 *  S2. A peer can at most lose its own stream: an invalid frame, too many frames or too many bytes
 *      end it, with a reason that is sent and logged.
 *  S3. The exchange is closed before the stream ends, and before a goodbye is answered.
 */
export class PeeringStream {
  /** Resolves with the reason when the stream has ended. */
  readonly ended: Promise<string>;
  readonly #options: StreamOptions;
  readonly #end: (reason: string) => void;
  readonly #frames: Rate;
  readonly #bytes: Rate;
  readonly #addresses: Rate;
  readonly #heardGoodbye = Promise.withResolvers<boolean>();
  #exchange: OpenExchange | undefined;
  #timer: Timer | undefined;
  #heardMs: number;
  #beatMs: number;
  #reason: string | undefined;
  /** A goodbye was heard; further ones are ignored. */
  #isParting = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    const { wire, known } = options;
    const { clock } = options.context.world;
    const ended = Promise.withResolvers<string>();
    this.ended = ended.promise;
    this.#end = ended.resolve;
    const { framesBurst, framesPerSecond, bytesBurst, bytesPerSecond } = limits.peering;
    this.#frames = new Rate(clock, framesBurst, framesPerSecond);
    this.#bytes = new Rate(clock, bytesBurst, bytesPerSecond);
    const { addressesBurst, addressesRefillMs } = limits.peering;
    this.#addresses = new Rate(clock, addressesBurst, 1000 / addressesRefillMs);
    this.#heardMs = clock.monotonicMs();
    this.#beatMs = this.#heardMs;
    known.isOpen = true;
    known.lastError = '';
    known.lastReceiveMs = clock.nowMs();
    void wire.closed.then((reason) => this.#endWith(reason));
  }

  /** Starts heartbeats, and the exchange of services unless the peering is being deleted. */
  start({ exchanges }: { readonly exchanges: boolean }): void {
    if (this.#reason !== undefined) return;
    if (exchanges) this.#openExchange();
    this.#options.wire.follow((text) => this.#receiveFrame(text));
    this.#beat();
  }

  get isOver(): boolean {
    return this.#reason !== undefined;
  }

  /**
   * Tells the peer that the peering is deleted. Resolves with whether the peer has written that
   * down.
   */
  async sayGoodbye(): Promise<boolean> {
    this.#closeExchange();
    if (!this.#send({ type: 'goodbye' })) return false;
    return this.#heardGoodbye.promise;
  }

  tellAddresses(addresses: readonly string[]): void {
    this.#send({ type: 'addresses', addresses });
  }

  /** Ends the stream for a reason that is no fault of the peer. */
  end(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#send({ type: 'end', reason });
    this.#endWith(reason);
  }

  /** Ends the stream because the peer broke a rule. */
  fail(reason: string): void {
    if (this.#reason !== undefined) return;
    const { context, peering } = this.#options;
    const { name, partition } = peering;
    context.log.warn({ peering: name, partition, reason }, 'the stream of a peer was ended');
    this.end(oneSentence(reason));
  }

  #endWith(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#timer?.clear();
    this.#closeExchange();
    const { known, wire } = this.#options;
    known.isOpen = false;
    known.lastError = reason;
    wire.close(reason);
    this.#heardGoodbye.resolve(false);
    this.#end(reason);
  }

  #openExchange(): void {
    const { exchange, peering } = this.#options;
    this.#exchange = exchange.open({
      peering,
      send: (frame) => this.#send({ type: 'exchange', frame }),
      fail: (reason) => this.fail(reason),
    });
  }

  #closeExchange(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.close();
  }

  #send(frame: StreamFrame): boolean {
    if (this.#reason !== undefined) return false;
    const { wire, known, context } = this.#options;
    if (wire.waitingBytes > limits.peering.unreadBytesMax) {
      this.#endWith('it does not read its frames');
      return false;
    }
    if (!wire.send(frame)) return false;
    known.lastSendMs = context.world.clock.nowMs();
    return true;
  }

  /** A single timer serves the next heartbeat and the end of the peer's silence. */
  #beat(): void {
    if (this.#reason !== undefined) return;
    const { clock, timers } = this.#options.context.world;
    const { heartbeatMs, silenceMaxMs } = limits.peering;
    const nowMs = clock.monotonicMs();
    const silentMs = nowMs - this.#heardMs;
    if (silentMs >= silenceMaxMs) {
      this.end(`heartbeat timeout: nothing was heard for ${silenceMaxMs / 1000} s`);
      return;
    }
    if (nowMs >= this.#beatMs) {
      this.#send({ type: 'heartbeat' });
      this.#beatMs = nowMs + heartbeatMs;
    }
    const nextMs = Math.min(this.#beatMs - nowMs, silenceMaxMs - silentMs);
    this.#timer = timers.after(nextMs, () => this.#beat());
  }

  #receiveFrame(text: string): void {
    if (this.#reason !== undefined) return;
    const fault = this.#takeFrame(text);
    if (fault !== undefined) this.fail(fault);
  }

  /** Returns what is wrong with the frame. */
  #takeFrame(text: string): string | undefined {
    if (!this.#frames.take(1)) return 'it sends too many frames';
    if (!this.#bytes.take(text.length)) return 'it sends too many bytes';
    const { known, context } = this.#options;
    this.#heardMs = context.world.clock.monotonicMs();
    known.lastReceiveMs = context.world.clock.nowMs();
    try {
      return this.#obey(parseStreamFrame(text));
    } catch (error) {
      if (error instanceof FrameFault) return error.message;
      throw error;
    }
  }

  #obey(frame: StreamFrame): string | undefined {
    const { known, context, side, onAddresses } = this.#options;
    switch (frame.type) {
      case 'heartbeat':
        known.lastHeartbeatMs = context.world.clock.nowMs();
        return undefined;
      case 'exchange':
        this.#takeExchange(frame.frame);
        return undefined;
      case 'addresses':
        if (side === 'acceptor') return 'it tells addresses that are not asked for';
        if (!this.#addresses.take(1)) return 'it tells other addresses too often';
        onAddresses(frame.addresses);
        return undefined;
      case 'goodbye':
        void this.#hearGoodbye();
        return undefined;
      case 'farewell':
        this.#heardGoodbye.resolve(true);
        return undefined;
      case 'end':
        this.#endWith(`the peer ended it: ${frame.reason}`);
        return undefined;
    }
  }

  #takeExchange(frame: unknown): void {
    try {
      this.#exchange?.receive(frame);
    } catch (error) {
      const { name } = this.#options.peering;
      const { log } = this.#options.context;
      log.error({ peering: name, error }, 'a frame of a peer could not be handled');
      this.end('a frame could not be handled');
    }
  }

  async #hearGoodbye(): Promise<void> {
    if (this.#isParting) return;
    this.#isParting = true;
    this.#closeExchange();
    const { onGoodbye, context, peering } = this.#options;
    try {
      await onGoodbye();
    } catch (error) {
      context.log.error({ peering: peering.name, error }, 'a goodbye could not be written down');
      this.end('the goodbye could not be written down');
      return;
    }
    this.#send({ type: 'farewell' });
    this.#endWith('the peer has deleted the peering');
  }
}
