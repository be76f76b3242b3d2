import { serviceEndpoints as contract } from '../../contract/service.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import type { ImportedService } from '../../model/peering/imported.ts';
import { chooseInstances, parseChoice } from '../../model/service-registration/choose.ts';
import type { ServiceRegistration } from '../../model/service-registration/service-registration.ts';
import type { ServerContext } from '../../server/context.ts';
import { removeService } from '../../server/services/remove.ts';
import { inNamespace, namespaces, serviceRegistrations } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { scanPage } from '../list.ts';
import type { Input, PageStart, Route } from '../route.ts';
import { type InputOf, serveGathered, serveList, serveWrite } from '../serve.ts';
import { allocationById, allocationIn } from './allocation.ts';
import { existingJob } from './job.ts';
import { importedInstancesOf, importedNames, originOf } from './service-imported.ts';
import { byNamespace, InstanceFacts, type NamedService, sortedBy } from './service-names.ts';

/**
 * Services of this cluster, and with `peer=` of a peer (`service-imported.ts`).
 * Source: docs/contract/jobs.md#paths, docs/guides/services.md#when-an-instance-is-listed.
 */
export const serviceRoutes = (server: ServerContext): Route[] => [
  ...serveGathered(contract.list, {
    rows: (input, page) => {
      const origin = originOf(input);
      if (origin === undefined) return namedServices(input, page);
      return importedNames(origin, input, page, { named: namedAtPeer, between });
    },
    // `between` is a pause, not a service.
    matches: (service: NamedService) => service !== between,
    keyOf: ({ Namespace, ServiceName }) => [Namespace, ServiceName],
    sortedBy,
    present: (service) => service,
    gather: ({ query }) => ({
      countMax: limits.list.perPageMax,
      of: (services) => byNamespace(services, query.counts),
    }),
  }),
  ...serveGathered(contract.instances, {
    rows: instancesAt,
    keyOf: ({ Namespace, ServiceName, ID }: ServiceRegistration) => [Namespace, ServiceName, ID],
    present: (registration) => registration,
    gather: ({ query }) => {
      const choice = choiceOf(query.choose);
      // The choice is made among all instances, so there are no pages.
      return choice && { of: (found) => chooseInstances(found, choice) };
    },
  }),
  ...serveWrite(
    contract.remove,
    async ({ namespace, parameters: { service: name = '', id = '' } }) => {
      const { index } = await removeService(server, { namespace, name, id });
      return { index, value: { Index: index } };
    },
  ),
  ...serveList(contract.ofJob, {
    rows: (input, page) => {
      const prefix = inNamespace(input.namespace, existingJob(input).ID);
      return input.snapshot
        .table(serviceRegistrations)
        .by('job')
        .scan({ prefix, ...scanPage(page) });
    },
    keyOf: ({ Namespace, JobID, ServiceName, ID }: ServiceRegistration) => [
      Namespace,
      JobID,
      defaultPartition,
      Namespace,
      ServiceName,
      ID,
    ],
    present: (registration) => registration,
  }),
  ...serveList(contract.ofAllocation, {
    found: allocationIn,
    rows: ({ parameters, snapshot, unwatched }, { from, reverse }) => {
      const { ID } = knownAllocation(unwatched, snapshot, parameters.alloc_id!);
      const ofAllocation = snapshot.table(serviceRegistrations).by('allocation');
      return ofAllocation.scan({ prefix: [ID], ...(from && { from }), reverse });
    },
    keyOf: ({ AllocID, Namespace, ServiceName, ID }: ServiceRegistration) => [
      AllocID,
      defaultPartition,
      Namespace,
      ServiceName,
      ID,
    ],
    present: (registration) => registration,
  }),
];

function instancesAt(
  input: InputOf<typeof contract.instances>,
  page: PageStart,
): Iterable<ServiceRegistration> {
  const origin = originOf(input);
  if (origin === undefined) return instancesOf(input, page);
  return importedInstancesOf(origin, input, page);
}

/** Changes of the allocation do not wake the list, unless the allocation is missing. */
function knownAllocation(unwatched: Snapshot, snapshot: Snapshot, id: string) {
  try {
    return allocationById(unwatched, id);
  } catch {
    return allocationById(snapshot, id);
  }
}

/** Yielded now and then while a service's instances are read, so that other requests continue. */
const between: NamedService = {
  Namespace: '',
  ServiceName: '',
  ...new InstanceFacts().told,
};
const instancesPerStep = 32;

/** Each service with the facts of all its instances. */
function* namedServices(
  { namespace, snapshot }: Pick<Input, 'namespace' | 'snapshot'>,
  page: PageStart,
): Iterable<NamedService> {
  const prefix = namespace === everyNamespace ? [defaultPartition] : inNamespace(namespace);
  const table = snapshot.table(serviceRegistrations);
  // Backwards, a page begins after the last instance of its first service.
  const from = page.from && (page.reverse ? [...page.from, '\uffff'] : page.from);
  let current: ServiceRegistration | undefined;
  let facts = new InstanceFacts();
  let seen = 0;
  for (const row of table.scan({ prefix, ...scanPage({ ...page, from }) })) {
    const isSame = current?.ServiceName === row.ServiceName && current.Namespace === row.Namespace;
    if (current !== undefined && !isSame) {
      yield named(current, facts);
      facts = new InstanceFacts();
    } else if (++seen % instancesPerStep === 0) yield between;
    current = row;
    facts.add(row);
  }
  if (current !== undefined) yield named(current, facts);
}

const namedAtPeer = (
  { Partition, Namespace, Name }: ImportedService,
  facts: InstanceFacts,
): NamedService => ({ Partition, Namespace, ServiceName: Name, ...facts.told });

const named = (
  { Namespace, ServiceName }: ServiceRegistration,
  facts: InstanceFacts,
): NamedService => ({ Namespace, ServiceName, ...facts.told });

/** The instances of one service, with `namespace=*` by namespace. */
function* instancesOf(
  { namespace, parameters, snapshot }: Pick<Input, 'namespace' | 'parameters' | 'snapshot'>,
  page: PageStart,
): Iterable<ServiceRegistration> {
  const table = snapshot.table(serviceRegistrations);
  for (const name of namespacesOf(snapshot, namespace, page)) {
    const from = page.from?.[0] === name ? page.from : undefined;
    const range = scanPage({ from, reverse: page.reverse });
    yield* table.scan({ prefix: inNamespace(name, parameters.service!), ...range });
  }
}

function namespacesOf(snapshot: Snapshot, namespace: string, { from, reverse }: PageStart) {
  if (namespace !== everyNamespace) return [namespace];
  const all = [...snapshot.table(namespaces).scan({ prefix: [defaultPartition], reverse })];
  const first = from?.[0];
  const names = all.map(({ Name }) => Name);
  if (first === undefined) return names;
  return names.filter((name) => (reverse ? name <= first : name >= first));
}

/** @throws RosterError `invalid-query` */
function choiceOf(choose: string) {
  if (choose === '') return undefined;
  const { chosenMax } = limits.service;
  const choice = parseChoice(choose, chosenMax);
  if (choice !== undefined) return choice;
  const reason = `must be NUMBER|KEY, the number from 1 to ${chosenMax}`;
  throw refusal('invalid-query', { parameter: 'choose', reason });
}
