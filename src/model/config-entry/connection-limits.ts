import { About, Nullable, Whole } from '../schema.ts';

/** Not in limits: proxies keep a limit in 32 bits. */
const countMax = 2 ** 32 - 1;
const count = (description: string) =>
  About(description, Nullable(Whole({ minimum: 0, maximum: countMax })), {
    absent: 'the proxy’s default',
  });

/**
 * Limits of the connections and requests that a proxy passes to a service.
 * Source: docs/behaviour/gateways.md#limits-and-health-checks-of-a-proxy.
 */
export const connectionLimits = {
  MaxConnections: count('Connections at a time; 0: the default of the proxy.'),
  MaxPendingRequests: count('Requests that wait for a connection; 0: the default of the proxy.'),
  MaxConcurrentRequests: count('Requests at a time; 0: the default of the proxy.'),
};
