import { httpProbe } from './http-probe.ts';
import type { Probe } from './probe.ts';
import { scriptProbe } from './script-probe.ts';
import { tcpProbe } from './tcp-probe.ts';

const probes: Readonly<Record<string, Probe>> = {
  http: httpProbe,
  tcp: tcpProbe,
  script: scriptProbe,
  // It loads HTTP/2.
  grpc: async (wish) => (await import('./grpc-probe.ts')).grpcProbe(wish),
};

/** Checks over the real network, and in real tasks. */
export const realProbe: Probe = async (wish) => {
  const probe = probes[wish.check.Type];
  if (probe === undefined) throw new Error(`checks of the type "${wish.check.Type}" are not known`);
  return probe(wish);
};
