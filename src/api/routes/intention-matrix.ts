import type { Steps } from '../../base/steps.ts';
import { type intentionEndpoints, readsIntentions, serviceIn } from '../../contract/intention.ts';
import { everyService } from '../../model/config-entry/config-entry.ts';
import {
  type IntentionMatrix,
  type ShownIntention,
  shownIntention,
} from '../../model/config-entry/intention-answers.ts';
import { decideIntention, type Intention } from '../../model/config-entry/intention-decision.ts';
import type { ServiceName } from '../../model/config-entry/kind.ts';
import type { ServiceIntentions } from '../../model/config-entry/service-intentions.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { defaultPartition } from '../../model/namespace/namespace.ts';
import { intentionsOf } from '../../server/config-entries/intentions.ts';
import { servicesIn } from '../../server/services/names.ts';
import { configEntries } from '../../state/tables.ts';
import type { InputOf } from '../serve.ts';

type Given = InputOf<typeof intentionEndpoints.matrix>;

/**
 * Decides each pair of services as a check does, without a request: where permissions decide by requests, a mere
 * connection is denied. Source: docs/behaviour/intentions.md#the-matrix.
 */
export function* matrixOf(input: Given, defaultAllows: boolean): Steps<IntentionMatrix> {
  const { snapshot, allows } = input;
  const known = input.query.name.length > 0 ? askedOf(input) : yield* servicesOf(input);
  const isSeen = (service: ServiceName) => allows(readsIntentions(service));
  const readable = known.filter(isSeen);
  const destinations = readable.slice(0, limits.config.matrixMax);
  // Services that the caller named itself tell nothing by being there.
  const sources = input.query.name.length > 0 ? known : destinations;
  const places = new Map<string, number>();
  const intentions: ShownIntention[] = [];
  const placeOf = ({ entry, source }: Intention): number => {
    const parts = [entry.Partition, entry.Namespace, entry.Name, source.Peer, source.Partition];
    const key = [...parts, source.Namespace, source.Name].join('\0');
    const place = places.get(key) ?? intentions.push(shownIntention({ entry, source })) - 1;
    places.set(key, place);
    return place;
  };
  const rows: { readonly allowed: boolean[]; readonly by: number[] }[] = [];
  for (const destination of destinations) {
    const entries = intentionsOf(snapshot, destination);
    const decisions = sources.map((source) =>
      decideIntention({
        caller: { ...source, peer: '' },
        entries,
        request: undefined,
        defaultAllows,
      }),
    );
    rows.push({
      allowed: decisions.map(({ allowed }) => allowed),
      by: decisions.map(({ intention }) => (intention === undefined ? -1 : placeOf(intention))),
    });
    yield;
  }
  return {
    Sources: sources.map(shownName),
    Destinations: destinations.map(shownName),
    Allowed: rows.map(({ allowed }) => allowed),
    By: rows.map(({ by }) => by),
    Intentions: intentions,
    DefaultAllow: defaultAllows,
    Total: readable.length,
  };
}

const shownName = ({ partition, namespace, name }: ServiceName): string =>
  partition === defaultPartition ? `${namespace}/${name}` : `${partition}/${namespace}/${name}`;

/** @throws RosterError `invalid-query` */
function askedOf(input: Given): readonly ServiceName[] {
  const { name } = input.query;
  const { matrixMax } = limits.config;
  if (name.length > matrixMax) {
    const reason = `can be given ${matrixMax} times at most`;
    throw refusal('invalid-query', { parameter: 'name', reason });
  }
  const named = name.map((text) => serviceIn(input, 'service', text));
  return [...new Map(named.map((one) => [shownName(one), one])).values()];
}

const rowsPerStep = 64;

/** The services of the namespace that are registered or that intentions name. */
function* servicesOf({ snapshot, namespace, partition }: Given): Steps<readonly ServiceName[]> {
  const names = new Set<string>();
  let seen = 0;
  const registered = partition === defaultPartition ? servicesIn(snapshot, namespace) : [];
  for (const { ServiceName: name } of registered) {
    names.add(name);
    if (++seen % rowsPerStep === 0) yield;
  }
  const prefix = [partition, namespace, 'service-intentions'];
  for (const row of snapshot.table(configEntries).scan({ prefix })) {
    const { Name, Sources } = row as ServiceIntentions;
    if (Name !== everyService) names.add(Name);
    for (const source of Sources ?? []) {
      const isHere = source.Namespace === namespace && source.Peer === '';
      if (isHere && source.Name !== everyService) names.add(source.Name);
    }
    if (++seen % rowsPerStep === 0) yield;
  }
  return [...names].sort().map((name) => ({ name, namespace, partition }));
}
