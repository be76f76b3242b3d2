import { bindGateways } from './gateways.ts';
import type { Consequence } from './kind.ts';

/** What the server writes itself as entries change, in this order. */
export const consequences: readonly Consequence[] = [bindGateways];
