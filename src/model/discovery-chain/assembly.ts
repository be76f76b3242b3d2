import type { ConfigEntry } from '../config-entry/config-entry.ts';
import type { EntryView, ServiceName } from '../config-entry/kind.ts';
import { limits } from '../limits.ts';
import type { ChainNode, ChainOverrides, ChainStep, ChainTarget } from './discovery-chain.ts';
import { type ServiceFacts, serviceFacts } from './service-facts.ts';
import { serviceId } from './target-name.ts';

export interface ChainRequest {
  readonly service: ServiceName;
  /** The datacenter of the caller, for entries that name no datacenter. */
  readonly datacenter: string;
  readonly overrides: ChainOverrides;
}

/** The reason that there is no chain: a sentence without its full stop. Never leaves this folder. */
export class ChainRefusal extends Error {
  override readonly name = 'ChainRefusal';
}

/** A chain in the making. */
export interface Assembly {
  readonly view: EntryView;
  readonly request: ChainRequest;
  readonly nodes: Map<string, ChainNode>;
  readonly targets: Map<string, ChainTarget>;
  readonly facts: Map<string, ServiceFacts>;
  /** For each splitter, the unrounded percent of the traffic of each split. */
  readonly shares: Map<string, readonly number[]>;
  /** The first service that gave the chain a protocol, and that protocol. */
  spoken: { readonly service: ServiceName; readonly protocol: string } | undefined;
  /** Whether a router, a splitter or a resolver has a part in it. */
  isDefault: boolean;
  /** The parts so far: routes, splits, redirects, failover targets. */
  parts: number;
  /** Records a step; absent if nobody asked for the steps. */
  readonly note:
    | ((node: string, entry: ConfigEntry | undefined, sentence: string) => void)
    | undefined;
}

export function beginAssembly(
  view: EntryView,
  request: ChainRequest,
  steps: ChainStep[] | undefined,
): Assembly {
  const note: Assembly['note'] =
    steps &&
    ((Node, entry, Sentence) => {
      steps.push({ Node, Entry: entry === undefined ? null : keyOf(entry), Sentence });
    });
  return {
    view,
    request,
    note,
    nodes: new Map(),
    targets: new Map(),
    facts: new Map(),
    shares: new Map(),
    spoken: undefined,
    isDefault: true,
    parts: 0,
  };
}

const keyOf = ({ Kind, Name, Namespace, Partition }: ConfigEntry) => ({
  Kind,
  Name,
  Namespace,
  Partition,
});

/** The facts of the service from its entries. */
export function factsOf({ view, request, facts }: Assembly, service: ServiceName): ServiceFacts {
  const { name, namespace, partition } = service;
  const own = request.service;
  // Most services live where the first service does, and this is the most frequent question.
  const isNear = namespace === own.namespace && partition === own.partition;
  const key = isNear ? name : `${name}\0${namespace}\0${partition}`;
  let known = facts.get(key);
  if (known === undefined) {
    known = serviceFacts(view, service);
    facts.set(key, known);
  }
  return known;
}

/** @throws ChainRefusal if the chain becomes too large */
export function countPart(assembly: Assembly): void {
  assembly.parts++;
  const { partsMax } = limits.discoveryChain;
  if (assembly.parts <= partsMax) return;
  throw new ChainRefusal(
    `discovery chain "${assembly.request.service.name}" has more than ${partsMax} routes, splits, redirects and failover targets`,
  );
}

/**
 * Checks that the service has the protocol of the chain.
 * @throws ChainRefusal
 */
export function speak(assembly: Assembly, service: ServiceName): void {
  const { protocol, protocolEntry: entry } = factsOf(assembly, service);
  const { spoken } = assembly;
  if (spoken === undefined) {
    assembly.spoken = { service, protocol };
    assembly.note?.(
      '',
      entry,
      `"${service.name}" speaks ${protocol}, and so must every service of the chain.`,
    );
  } else if (spoken.protocol !== protocol) {
    const chain = assembly.request.service.name;
    throw new ChainRefusal(
      `discovery chain "${chain}" uses inconsistent protocols; service "${service.name}" has "${protocol}", and "${spoken.service.name}" has "${spoken.protocol}"`,
    );
  }
}

/**
 * A part of an entry with the service of its destination filled in, since in a chain it stands apart from its
 * entry. Namespace and partition are set only if they differ from the chain's.
 */
export function spelledOut<D extends { readonly Service: string }>(
  { request }: Assembly,
  definition: D,
  { name, namespace, partition }: ServiceName,
): D {
  const { service } = request;
  return {
    ...definition,
    Service: name,
    Namespace: namespace === service.namespace ? '' : namespace,
    Partition: partition === service.partition ? '' : partition,
  };
}

export const nodeId = (type: ChainNode['Type'], id: string): string => `${type}:${id}`;
export const routerId = (service: ServiceName): string => nodeId('router', serviceId(service));
export const splitterId = (service: ServiceName): string => nodeId('splitter', serviceId(service));
