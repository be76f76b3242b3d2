import type { Exchange } from './exchange.ts';

/** Exchanges nothing. */
export const idleExchange: Exchange = {
  open: () => ({ receive() {}, close() {} }),
  status: () => ({ imported: [], exported: [] }),
  forget: async () => {},
};
