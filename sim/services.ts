/**
 * The service registrations of a simulated machine, by the real reporter of a node over the simulated
 * network.
 *
 * 1. The services of a run are registered while its task runs and is not stopping.
 * 2. An agent reports all services again when it starts and when it registers its node anew.
 */
import type {
  ServicesReport,
  ToldService,
} from '../src/model/service-registration/service-registration.ts';
import { describeServices } from '../src/node/hooks/services/described.ts';
import { ServiceReporter } from '../src/node/hooks/services/service-reporter.ts';
import type { Reply } from './network.ts';
import type { Process } from './process.ts';
import type { Run } from './run.ts';

/** The reporter of an agent, which stops when the agent's program dies. */
export function servicesReporter(
  { world: { timers, random } }: Process,
  call: (reports: readonly ServicesReport[]) => Promise<Reply>,
  unexpected: (sentence: string) => void,
): ServiceReporter {
  return new ServiceReporter({
    timers,
    random,
    send: async (reports) => {
      const { status } = await call(reports);
      if (status !== 200) throw Object.assign(new Error(`${status}`), { status });
    },
    onError: () => {},
    onRefused: ({ AllocID }) => unexpected(`the services of ${AllocID} are refused`),
  });
}

/** The services of a run as its machine reports them now. */
export function servicesOf({ allocation, group, isServing, isWell }: Run): readonly ToldService[] {
  if (!isServing) return [];
  const address: Readonly<Record<string, string>> = {
    'attr.unique.network.ip-address': '10.0.0.1',
  };
  const described = describeServices({ allocation, group, lookup: () => (name) => address[name] });
  return described.map(({ told }) => ({ ...told, Status: isWell ? 'passing' : 'critical' }));
}
