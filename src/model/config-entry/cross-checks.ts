import { checkGraph } from './graph.ts';
import { checkInUse } from './in-use.ts';
import { checkGatewayNames, checkIngressProtocols } from './ingress-checks.ts';
import type { CrossCheck } from './kind.ts';

/** Rules over all entries together. */
export const crossChecks: readonly CrossCheck[] = [
  checkGatewayNames,
  checkIngressProtocols,
  checkGraph,
  checkInUse,
];
