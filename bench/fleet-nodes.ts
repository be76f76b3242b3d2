/**
 * Nodes without a machine, in a process of their own. Their loops, reports and connections are those of a real node;
 * they start no task, and call each allocation running.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { realWorld as world } from '../src/base/ports-real.ts';
import { AllocationReportSchema } from '../src/model/allocation/allocation.ts';
import { complete } from '../src/model/complete.ts';
import { type NodeRegistration, NodeRegistrationSchema } from '../src/model/node/node.ts';
import { ServicesReportSchema } from '../src/model/service-registration/service-registration.ts';
import { ServiceReporter } from '../src/node/hooks/services/service-reporter.ts';
import { identityIn } from '../src/node/identity.ts';
import { Registration } from '../src/node/registration.ts';
import type { Assignment } from '../src/node/server-api.ts';
import { ServerContact } from '../src/node/server-contact.ts';
import { answerServers, followAssignments, sendHeartbeats } from '../src/node/server-loops.ts';
import { StatusReporter } from '../src/node/status-reporter.ts';
import { lightServerApi } from './fleet-api.ts';
import { limits } from './limits.ts';
import type { Target } from './target.ts';

/** The nodes of a process. */
export interface FleetPart {
  readonly target: Target;
  readonly description: object;
  /** Of their identities. */
  readonly folder: string;
  readonly names: readonly string[];
}

const { joiningAtOnce, serviceEveryMs } = limits.fleet;
const part = JSON.parse(process.argv[2]!) as FleetPart;
const { target, description, folder, names } = part;
const { signal } = new AbortController();
const ignore = () => {};

/** Resolves when the node is registered; its loops go on. */
async function joinServers(name: string): Promise<void> {
  const dataDirectory = join(folder, name);
  await mkdir(dataDirectory, { recursive: true });
  const api = lightServerApi(target);
  const contact = new ServerContact({ ...world, dataDirectory, onNotice: ignore });
  const registration: Registration = new Registration({
    world,
    api,
    contact,
    identities: identityIn(dataDirectory, world),
    introduction: async () => target.token,
    signal,
    onRegistered: () => services.repeat(),
    onNotice: ignore,
  });
  const services = new ServiceReporter({
    ...world,
    send: (reports, over) =>
      api.reportServices(registration.id, reports, registration.secret, over),
    onError: ignore,
    onRefused: ignore,
  });
  const statuses = new StatusReporter({
    ...world,
    send: (reports, over) => api.reportStatus(registration.id, reports, registration.secret, over),
    onDelivered: ignore,
    onError: ignore,
  });
  await registration.readIdentity();
  const node = { ...description, ID: registration.id, Name: name } as NodeRegistration;
  registration.describe(complete(NodeRegistrationSchema, node));
  const context = { world, api, registration, contact, signal, onNotice: ignore };
  const known = new Set<string>();
  const apply = (assignments: readonly Assignment[]) => {
    for (const { Allocation } of assignments) {
      if (known.has(Allocation.ID)) continue;
      known.add(Allocation.ID);
      const running = { ID: Allocation.ID, ClientStatus: 'running' } as const;
      statuses.report(complete(AllocationReportSchema, running));
      keepChanging(services, Allocation.ID, 'passing');
    }
  };
  void sendHeartbeats(context);
  void followAssignments(context, apply);
  void answerServers(context, new Map());
  await registration.done();
}

/** Reports the service of an allocation, whose status changes from time to time. */
function keepChanging(services: ServiceReporter, id: string, Status: 'passing' | 'warning'): void {
  const service = { ID: `${id}-web`, ServiceName: 'web', Address: '10.0.0.1', Port: 8080, Status };
  services.report(complete(ServicesReportSchema, { AllocID: id, Services: [service] }));
  const next = Status === 'passing' ? 'warning' : 'passing';
  const afterMs = serviceEveryMs * (0.5 + Math.random());
  setTimeout(() => keepChanging(services, id, next), afterMs);
}

const left = [...names];
async function joinInTurn(): Promise<void> {
  for (let name = left.pop(); name !== undefined; name = left.pop()) await joinServers(name);
}
await Promise.all(Array.from({ length: joiningAtOnce }, joinInTurn));
