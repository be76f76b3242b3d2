/**
 * Rules over gateways and other entries together. Source: docs/behaviour/discovery.md#checks-of-chains.
 */
import { protocolOf } from '../discovery-chain/protocol.ts';
import { type EntryKey, everyService, keyOfEntry } from './config-entry.ts';
import type { IngressGateway } from './ingress-gateway.ts';
import type { CrossCheck, EntryView } from './kind.ts';
import { serviceNameOf } from './named-service.ts';
import { textOfKey } from './resource-reference.ts';
import { scopeWords } from './scope-words.ts';

/** A gateway's name stands for its instances, so gateways of different kinds have different names. */
export const checkGatewayNames: CrossCheck = (view, changed) =>
  changed.flatMap((key) => {
    const other = otherWay[key.kind];
    if (other === undefined || view.get(key) === undefined) return [];
    if (view.get({ ...key, kind: other }) === undefined) return [];
    return [
      `cannot have the ${key.kind} "${key.name}": ${article(other)} ${other} entry with that name already exists`,
    ];
  });

const article = (word: string) => (/^[aeiou]/.test(word) ? 'an' : 'a');

const otherWay: Partial<Record<string, 'ingress-gateway' | 'terminating-gateway'>> = {
  'ingress-gateway': 'terminating-gateway',
  'terminating-gateway': 'ingress-gateway',
};

/** A listener of an ingress gateway has the protocol of its services. */
export const checkIngressProtocols: CrossCheck = (view, changed) => {
  const gateways = new Map<string, EntryKey>();
  for (const key of changed) {
    for (const gateway of gatewaysOf(view, key)) gateways.set(textOfKey(gateway), gateway);
  }
  const sentences = new Set<string>();
  for (const key of gateways.values()) {
    const gateway = view.get(key) as IngressGateway | undefined;
    const where = changed[0] === undefined ? '' : scopeWords(key, changed[0]);
    for (const sentence of mismatches(view, gateway)) sentences.add(`${sentence}${where}`);
  }
  return [...sentences];
};

function* gatewaysOf(view: EntryView, key: EntryKey): Iterable<EntryKey> {
  if (key.kind === 'ingress-gateway') yield key;
  if (key.kind === 'service-defaults') {
    for (const user of view.referrers(key)) if (user.kind === 'ingress-gateway') yield user;
  }
  if (key.kind === 'proxy-defaults') {
    for (const entry of view.everywhere(key.partition, 'ingress-gateway')) yield keyOfEntry(entry);
  }
}

function* mismatches(view: EntryView, gateway: IngressGateway | undefined): Iterable<string> {
  for (const { Port, Protocol, Services } of gateway?.Listeners ?? []) {
    for (const service of Services) {
      if (service.Name === everyService) continue;
      const { protocol } = protocolOf(view, serviceNameOf(service));
      if (protocol === Protocol) continue;
      yield `service "${service.Name}" has protocol "${protocol}", which does not match defined listener protocol "${Protocol}" of port ${Port} of the ingress-gateway "${gateway?.Name}"`;
    }
  }
}
