import { bindGateways } from './gateways.ts';
import type { Consequence } from './kind.ts';

/** Entries that the server writes itself when other entries change, in this order. */
export const consequences: readonly Consequence[] = [bindGateways];
