import type { ServiceKey } from '../../../model/peering/exchange.ts';
import { textOfService } from '../../../model/peering/exports.ts';
import type { ImportedInstance } from '../../../model/peering/imported.ts';
import type { ExchangeChange } from './imported-rows.ts';

/**
 * What a peer told since `begin`, and did not take back. So it is no more than there may be of a peer,
 * whatever that peer makes come and go before it is done.
 */
export class Told {
  /** The ids of the instances of each service, by its text. */
  readonly #services = new Map<string, Set<string>>();

  /** In the order in which a change is written. */
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

  /** How many instances. */
  get size(): number {
    let size = 0;
    for (const ids of this.#services.values()) size += ids.size;
    return size;
  }

  #idsOf(service: ServiceKey): Set<string> | undefined {
    return this.#services.get(textOfService(service));
  }
}
