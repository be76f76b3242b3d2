import type { Steps } from '../../base/steps.ts';
import { everyService } from '../../model/config-entry/config-entry.ts';
import { type Caller, type Intention, isOf } from '../../model/config-entry/intention-decision.ts';
import type { ServiceName } from '../../model/config-entry/kind.ts';
import type { ServiceIntentions } from '../../model/config-entry/service-intentions.ts';
import type { Snapshot } from '../../state/types.ts';
import { entryViewOf, findEntry } from './view.ts';

const kind = 'service-intentions';

/** The entries for the service itself, and for every service of its namespace and beyond. */
export function intentionsOf(snapshot: Snapshot, service: ServiceName): ServiceIntentions[] {
  const { partition, namespace, name } = service;
  return [name, everyService].flatMap((one) => {
    const found = findEntry(snapshot, { partition, namespace, kind, name: one });
    return found === undefined ? [] : [found as ServiceIntentions];
  });
}

/** The intentions that concern calls to the service, in the order in which they decide. */
export function intentionsTo(snapshot: Snapshot, service: ServiceName): Intention[] {
  const all = intentionsOf(snapshot, service).flatMap((entry) =>
    (entry.Sources ?? []).map((source) => ({ entry, source })),
  );
  return all.sort(byPrecedence);
}

const entriesPerStep = 64;

/** The intentions that concern calls of the caller. */
export function* intentionsFrom(snapshot: Snapshot, caller: Caller): Steps<Intention[]> {
  const { partition, namespace, name } = caller;
  const view = entryViewOf(snapshot);
  const found: Intention[] = [];
  let seen = 0;
  // Each of these is a source that the caller matches.
  for (const [space, one] of [
    [namespace, name],
    [namespace, everyService],
    [everyService, everyService],
  ] as const) {
    for (const key of view.referrers({ partition, namespace: space, name: one })) {
      if (key.kind !== kind) continue;
      const entry = findEntry(snapshot, key) as ServiceIntentions;
      for (const source of entry.Sources ?? []) {
        const isIt = source.Name === one && source.Namespace === space;
        if (isIt && isOf(source, caller)) found.push({ entry, source });
      }
      if (++seen % entriesPerStep === 0) yield;
    }
  }
  return found.sort(byPrecedence);
}

const byPrecedence = (left: Intention, right: Intention): number =>
  right.source.Precedence - left.source.Precedence;
