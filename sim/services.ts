/**
 * What a simulated machine tells of the services of its runs: the real description and the real
 * reporter of a node, over the simulated network.
 *
 * 1. A run has its services while its task runs and nobody wants it ended.
 * 2. An agent that starts, or registers anew, tells all of it again.
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

/** An agent's: it tells nothing any more once its program is dead. */
export function servicesReporter(
  { world: { timers, random } }: Process,
  tell: (reports: readonly ServicesReport[]) => Promise<Reply>,
  surprised: (sentence: string) => void,
): ServiceReporter {
  return new ServiceReporter({
    ...{ timers, random },
    send: async (reports) => {
      const { status } = await tell(reports);
      if (status !== 200) throw Object.assign(new Error(`${status}`), { status });
    },
    onError: () => {},
    onRefused: ({ AllocID }) => surprised(`the services of ${AllocID} are refused`),
  });
}

/** The services that a run has now, as its machine tells of them. */
export function servicesOf({ allocation, group, isServing, isWell }: Run): readonly ToldService[] {
  if (!isServing) return [];
  const address: Readonly<Record<string, string>> = {
    'attr.unique.network.ip-address': '10.0.0.1',
  };
  const described = describeServices({ allocation, group, lookup: () => (name) => address[name] });
  return described.map(({ told }) => ({ ...told, Status: isWell ? 'passing' : 'critical' }));
}
