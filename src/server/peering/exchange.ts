import type { ExchangeFrame } from '../../model/peering/exchange.ts';

/**
 * Between the streams of peerings (`streams.ts`), which authenticate, beat and reconnect, and the
 * exchange of services (`exchange/`), which knows what goes over them.
 */
export interface ExchangeLink {
  /** The peering that the stream belongs to, here. */
  readonly peering: { readonly partition: string; readonly name: string; readonly id: string };
  /** Sends a frame; `false`: the stream is not open any more. */
  readonly send: (frame: ExchangeFrame) => boolean;
  /** Ends the stream, as the other side does what it may not. It is told, and dialled again later. */
  readonly fail: (reason: string) => void;
}

export interface Exchange {
  /** A stream is open, and authenticated on both sides. */
  open(link: ExchangeLink): OpenExchange;
  /** Names of what goes to the peer and of what came from it, as of now. */
  status(peering: { readonly partition: string; readonly name: string }): {
    readonly imported: readonly string[];
    readonly exported: readonly string[];
  };
  /**
   * Removes what came from a peer, a bounded part at a time. Resolves when nothing is left; rejects
   * when the state cannot be written.
   */
  forget(peering: { readonly partition: string; readonly name: string }): Promise<void>;
}

export interface OpenExchange {
  /** A frame of the other side, as it was decoded: of any shape. */
  receive(frame: unknown): void;
  /** The stream is gone. */
  close(): void;
}
