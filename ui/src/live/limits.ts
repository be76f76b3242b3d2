/** Bounds of the page's side of the connection. */
export const limits = {
  /** The pause before the next attempt to connect, which doubles. A random part of it is left out. */
  reconnectMinMs: 250,
  reconnectMaxMs: 10_000,
  /** The time from an attempt to connect to the welcome. */
  welcomeTimeoutMs: 15_000,
  /** The server says something every ten seconds. */
  silentTimeoutMs: 30_000,
  /** A request that comes while the connection is away waits so long for it. */
  waitForOpenMs: 20_000,
  /** A tab that is hidden for so long stops its watches. */
  hiddenAfterMs: 30_000,
  /** An answer to the request before stays on the screen so long while the next one comes. */
  keepAnswerMs: 400,
  /** The pause between two samples of what cannot be watched. */
  sampleMs: 5_000,
  /** A clock of the device that differs more from that of the server is told. */
  clockDifferenceMs: 60_000,
} as const;
