import { destinationOf, isSameService } from '../config-entry/destination.ts';
import { mergedHeaders } from '../config-entry/header-changes.ts';
import type { ServiceName } from '../config-entry/kind.ts';
import { isHashBased } from '../config-entry/load-balancer.ts';
import type { ServiceSplit, ServiceSplitter } from '../config-entry/service-splitter.ts';
import { limits } from '../limits.ts';
import {
  type Assembly,
  ChainRefusal,
  countPart,
  speak,
  spelledOut,
  splitterId,
} from './assembly.ts';
import type { ChainNode, ChainSplit } from './discovery-chain.ts';
import { resolverNode } from './resolver-stage.ts';
import { tooDeep } from './settle.ts';
import { serviceId } from './target-name.ts';
import { weightsOf } from './weights.ts';

/** The place of the service, when nobody named a subset, a datacenter or a peer. */
export const anywhereOf = ({ request }: Assembly, service: ServiceName, subset = '') => ({
  partition: service.partition,
  namespace: service.namespace,
  name: service.name,
  subset,
  datacenter: request.datacenter,
  peer: '',
});

/**
 * Adds the node that takes the traffic of a service: its splitter, or else its resolver. Returns its name.
 * `within` are the services whose splitters are being made.
 * @throws ChainRefusal
 */
export function splitterOrResolver(
  assembly: Assembly,
  service: ServiceName,
  within: readonly ServiceName[] = [],
): string {
  const { partition, namespace, name } = service;
  const splitter = assembly.view.get({ partition, namespace, name, kind: 'service-splitter' });
  if (splitter === undefined) return resolverNode(assembly, anywhereOf(assembly, service));
  return splitterNode(assembly, service, splitter as ServiceSplitter, within);
}

function splitterNode(
  assembly: Assembly,
  service: ServiceName,
  splitter: ServiceSplitter,
  within: readonly ServiceName[],
): string {
  const id = splitterId(service);
  if (assembly.nodes.has(id)) return id;
  const path = [...within, service];
  if (within.some((outer) => isSameService(outer, service))) {
    throw new ChainRefusal(
      `detected circular reference: [${path.map(({ name }) => name).join(' -> ')}]`,
    );
  }
  if (path.length > limits.discoveryChain.depthMax) throw tooDeep(assembly);
  assembly.isDefault = false;
  speak(assembly, service);
  const parts: Parts = { splits: [], shares: [] };
  for (const split of splitter.Splits) {
    const destination = destinationOf(splitter, split);
    // Only another service without a subset can be split further: a service has a single splitter.
    const isSplitFurther = split.ServiceSubset === '' && !isSameService(destination, service);
    const next = isSplitFurther
      ? splitterOrResolver(assembly, destination, path)
      : resolverNode(assembly, anywhereOf(assembly, destination, split.ServiceSubset));
    addSplit(assembly, next, spelledOut(assembly, split, destination), parts);
  }
  const { splits, shares } = parts;
  const weights = weightsOf(shares);
  const node: ChainNode = {
    Type: 'splitter',
    Name: serviceId(service),
    Routes: null,
    Resolver: null,
    Splits: splits.map((split, index) => ({ ...split, Weight: weights[index]! })),
    LoadBalancer: balancerOf(assembly, splits),
  };
  assembly.shares.set(id, shares);
  assembly.nodes.set(id, node);
  const words = node.Splits!.map(({ Weight, NextNode }) => `${Weight} % to ${NextNode}`);
  assembly.note?.(id, splitter, `The traffic of "${service.name}" is split: ${words.join(', ')}.`);
  return id;
}

/** The splits of a splitter, and the unrounded share of each. */
interface Parts {
  readonly splits: ChainSplit[];
  readonly shares: number[];
}

/**
 * Adds a split. A split that leads to another splitter becomes the splits of that splitter, so that a proxy
 * draws once.
 */
function addSplit(
  assembly: Assembly,
  next: string,
  split: ServiceSplit,
  { splits, shares }: Parts,
): void {
  const inner = assembly.nodes.get(next)?.Splits ?? null;
  if (inner === null) {
    countPart(assembly);
    splits.push({ Definition: split, Weight: 0, NextNode: next });
    shares.push(split.Weight);
    return;
  }
  const innerShares = assembly.shares.get(next)!;
  inner.forEach(({ Definition, NextNode }, index) => {
    countPart(assembly);
    splits.push({ Definition: within(split, Definition), Weight: 0, NextNode });
    shares.push((split.Weight * innerShares[index]!) / 100);
  });
}

const within = (outer: ServiceSplit, inner: ServiceSplit): ServiceSplit => ({
  ...inner,
  RequestHeaders: mergedHeaders(outer.RequestHeaders, inner.RequestHeaders),
  ResponseHeaders: mergedHeaders(outer.ResponseHeaders, inner.ResponseHeaders),
});

/**
 * The load balancer of a splitter: the first one with a hash among its targets. The hash must be the same for
 * all of them.
 */
function balancerOf({ nodes }: Assembly, splits: readonly ChainSplit[]): ChainNode['LoadBalancer'] {
  for (const { NextNode } of splits) {
    const balancer = nodes.get(NextNode)?.LoadBalancer ?? null;
    if (balancer !== null && isHashBased(balancer)) return balancer;
  }
  return null;
}
