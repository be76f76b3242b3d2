import type { Steps } from '../../base/steps.ts';
import type { ConfigEntry } from '../../model/config-entry/config-entry.ts';
import type { ServiceName } from '../../model/config-entry/kind.ts';
import type { ServiceIntentions } from '../../model/config-entry/service-intentions.ts';
import { compileChain } from '../../model/discovery-chain/compile.ts';
import { noOverrides } from '../../model/discovery-chain/discovery-chain.ts';
import { presentChain } from '../../model/discovery-chain/present.ts';
import type { ChangedChain, ChangedIntention, Effects } from '../../model/kept-plan/shown-plan.ts';
import { limits } from '../../model/limits.ts';
import { isSame } from '../../model/same.ts';
import { configEntries } from '../../state/tables.ts';
import type { Change, Rehearsal, Snapshot } from '../../state/types.ts';
import { entryViewOf } from '../config-entries/view.ts';

type Routing = Pick<Effects, 'Chains' | 'Intentions' | 'Warnings'>;

/** The discovery chains and intentions that changes of configuration entries turn into other ones. */
export function* routingEffects(
  rehearsal: Rehearsal,
  changes: readonly Change[],
  datacenter: string,
): Steps<Routing> {
  const [before, after] = [rehearsal.before, rehearsal.now()];
  const entries = changes.map(({ before, after }) => (after ?? before) as unknown as ConfigEntry);
  const { services, isCut } = yield* servicesOf([before, after], entries);
  const Chains: ChangedChain[] = [];
  for (const service of services) {
    yield;
    const [was, is] = [compiled(before, service, datacenter), compiled(after, service, datacenter)];
    if (isSame(was, is)) continue;
    const { name, namespace, partition } = service;
    Chains.push({
      Service: name,
      Namespace: namespace,
      Partition: partition,
      Before: was.chain,
      After: is.chain,
      RefusedBefore: was.refusal,
      RefusedAfter: is.refusal,
    });
  }
  const { chainsShownMax, chainsComparedMax } = limits.plan;
  return {
    Chains: Chains.slice(0, chainsShownMax),
    Intentions: intentionChanges(changes).slice(0, limits.plan.differencesMax),
    Warnings: [
      ...(isCut ? [`only the discovery chains of ${chainsComparedMax} services are compared`] : []),
      ...(Chains.length > chainsShownMax
        ? [`${Chains.length} discovery chains change: the first ${chainsShownMax} are shown`]
        : []),
    ],
  };
}

/** Kinds that take part in discovery chains. */
const routingKinds: ReadonlySet<string> = new Set([
  'service-defaults',
  'service-router',
  'service-splitter',
  'service-resolver',
  'proxy-defaults',
]);

/** The services with an entry for routing, in the partitions of the changed entries. */
function* servicesOf(
  snapshots: readonly Snapshot[],
  changed: readonly ConfigEntry[],
): Steps<{ readonly services: readonly ServiceName[]; readonly isCut: boolean }> {
  const routing = changed.filter(({ Kind }) => routingKinds.has(Kind));
  const found = new Map<string, ServiceName>();
  for (const partition of new Set(routing.map(({ Partition }) => Partition))) {
    for (const snapshot of snapshots) {
      for (const entry of snapshot.table(configEntries).scan({ prefix: [partition] })) {
        if (!routingKinds.has(entry.Kind) || entry.Kind === 'proxy-defaults') continue;
        const { Namespace: namespace, Name: name } = entry;
        found.set(`${partition}\0${namespace}\0${name}`, { partition, namespace, name });
        if (found.size > limits.plan.chainsComparedMax) {
          return { services: [...found.values()].slice(0, -1), isCut: true };
        }
      }
      yield;
    }
  }
  return { services: [...found.values()], isCut: false };
}

function compiled(snapshot: Snapshot, service: ServiceName, datacenter: string) {
  const request = { service, datacenter, overrides: noOverrides };
  const { chain, refusal = '' } = compileChain(entryViewOf(snapshot), request);
  return { chain: chain === undefined ? null : presentChain(chain), refusal };
}

function intentionChanges(changes: readonly Change[]): ChangedIntention[] {
  return changes.flatMap(({ before, after }) => {
    const entry = (after ?? before) as unknown as ConfigEntry;
    if (entry.Kind !== 'service-intentions') return [];
    const [was, is] = [sourcesOf(before), sourcesOf(after)];
    return [...new Set([...was.keys(), ...is.keys()])]
      .filter((source) => !isSame(was.get(source), is.get(source)))
      .map((Source) => ({
        Source,
        Destination: entry.Name,
        Before: actionOf(was.get(Source)),
        After: actionOf(is.get(Source)),
      }));
  });
}

type IntentionSource = NonNullable<ServiceIntentions['Sources']>[number];

function sourcesOf(row: unknown): ReadonlyMap<string, IntentionSource> {
  const sources = (row as ServiceIntentions | undefined)?.Sources ?? [];
  return new Map(sources.map((source) => [nameOf(source), source]));
}

function nameOf({ Name, Namespace, Partition, Peer }: IntentionSource): string {
  const place = [Partition, Namespace].filter((part) => part && part !== 'default');
  return `${[...place, Name].join('/')}${Peer ? ` of the peer ${Peer}` : ''}`;
}

const actionOf = (source: IntentionSource | undefined): string =>
  source === undefined ? '' : source.Action || 'permissions';
