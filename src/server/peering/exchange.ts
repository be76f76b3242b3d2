import type { ExchangeFrame } from '../../model/peering/exchange.ts';

/**
 * The port between the streams of peerings (`streams.ts`), which authenticate, send heartbeats and
 * reconnect, and the exchange of services (`exchange/`), which uses them.
 */
export interface ExchangeLink {
  /** The peering of the stream, on this side. */
  readonly peering: { readonly partition: string; readonly name: string; readonly id: string };
  /** `false`: the stream is not open any more. */
  readonly send: (frame: ExchangeFrame) => boolean;
  /**
   * Ends the stream because the other side broke a rule. The other side is told, and dialled again
   * later.
   */
  readonly fail: (reason: string) => void;
}

export interface Exchange {
  /** Called when a stream is open and both sides have proved who they are. */
  open(link: ExchangeLink): OpenExchange;
  /** The names of services exported to the peer and imported from it. */
  status(peering: { readonly partition: string; readonly name: string }): {
    readonly imported: readonly string[];
    readonly exported: readonly string[];
  };
  /**
   * Removes everything that was imported from a peer, a bounded part at a time. Rejects when the
   * state cannot be written.
   */
  forget(peering: { readonly partition: string; readonly name: string }): Promise<void>;
}

export interface OpenExchange {
  /** Takes a decoded frame of the other side, which may have any shape. */
  receive(frame: unknown): void;
  /** Called when the stream has ended. */
  close(): void;
}
