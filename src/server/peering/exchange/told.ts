import type { ServiceKey } from '../../../model/peering/exchange.ts';
import { textOfService } from '../../../model/peering/exports.ts';
import type { ImportedInstance } from '../../../model/peering/imported.ts';
import type { ExchangeChange } from './imported-rows.ts';

/**
 * The services and instances that a peer has told since `begin` and not removed. So its size is
 * bounded like the imports of the peer, whatever the peer adds and removes meanwhile.
 */
export class Told {
  /** Ids of the instances of each service, by the service's text. */
  readonly #services = new Map<string, Set<string>>();

  /** Follows the order in which a change is written. */
  note({ services, instances, removedInstances, removedServices }: ExchangeChange): void {
    for (const service of services) {
      const text = textOfService(service);
      if (!this.#services.has(text)) this.#services.set(text, new Set());
    }
    for (const { id, ...service } of instances) this.#idsOf(service)?.add(id);
    for (const { id, ...service } of removedInstances) this.#idsOf(service)?.delete(id);
    for (const service of removedServices) this.#services.delete(textOfService(service));
  }

  hasService(service: ServiceKey): boolean {
    return this.#services.has(textOfService(service));
  }

  hasInstance({ Namespace: namespace, ServiceName: name, ID }: ImportedInstance): boolean {
    return this.#idsOf({ namespace, name })?.has(ID) === true;
  }

  /** The number of instances. */
  get size(): number {
    let size = 0;
    for (const ids of this.#services.values()) size += ids.size;
    return size;
  }

  #idsOf(service: ServiceKey): Set<string> | undefined {
    return this.#services.get(textOfService(service));
  }
}
