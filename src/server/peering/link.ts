/**
 * How clusters reach each other. The composition root hands in WebSockets (`web-socket-link.ts`), a
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
  /** Certificates (PEM) to trust; none: without TLS. */
  readonly caPems: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Frames of text, whole and in order, until it closes. */
export interface PeeringLink {
  /** `false`: it is not open any more. */
  send(text: string): boolean;
  /** What the other side has not taken yet. */
  readonly waitingBytes: number;
  /** Each frame that comes, from the first one on. Called once. */
  onFrame(take: (text: string) => void): void;
  /** Resolves when it is closed by either side, with why, as far as that is known. */
  readonly closed: Promise<string>;
  /** What was sent before still arrives. */
  close(reason: string): void;
}
