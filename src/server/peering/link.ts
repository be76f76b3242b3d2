/**
 * How clusters reach each other. The composition root passes WebSockets (`web-socket-link.ts`), a
 * simulator its own network.
 */
export interface PeeringTransport {
  /**
   * Opens a link to a server of another cluster. Rejects with an `Error` whose message ends a
   * sentence ("connection refused"), also when `signal` aborts.
   * @param address `host:port`
   */
  dial(address: string, options: DialOptions): Promise<PeeringLink>;
}

export interface DialOptions {
  /** Certificates (PEM) to trust; empty: there is no TLS. */
  readonly caPems: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Carries frames of text, whole and in order, until it closes. */
export interface PeeringLink {
  /** `false`: the link is not open any more. */
  send(text: string): boolean;
  /** Bytes that the other side has not taken yet. */
  readonly waitingBytes: number;
  /** Called once; `take` gets every frame, beginning with the first. */
  onFrame(take: (text: string) => unknown): void;
  /** Resolves with the reason, as far as it is known, when either side has closed the link. */
  readonly closed: Promise<string>;
  /** Frames sent before still arrive. */
  close(reason: string): void;
}
