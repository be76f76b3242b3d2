import type {
  ExchangeFrame,
  ExportedInstance,
  ExportedService,
  InstanceKey,
  ServiceKey,
} from '../../../model/peering/exchange.ts';
import { textOfService } from '../../../model/peering/exports.ts';
import type { ServiceRegistration } from '../../../model/service-registration/service-registration.ts';
import type { ExchangeBounds } from './bounds.ts';

type ChangeFrame = Extract<ExchangeFrame, { readonly type: 'change' }>;

/** A change under construction, no larger than one frame. */
export class GrowingChange {
  /** The services in the change, as texts. */
  readonly touched = new Set<string>();
  readonly #services: ExportedService[] = [];
  readonly #instances: ExportedInstance[] = [];
  readonly #removedServices: ServiceKey[] = [];
  readonly #removedInstances: InstanceKey[] = [];
  readonly #bounds: ExchangeBounds;
  #bytes = 0;
  #count = 0;

  constructor(bounds: ExchangeBounds) {
    this.#bounds = bounds;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    const { instancesPerChangeMax, changeBytesMax } = this.#bounds;
    return this.#count >= instancesPerChangeMax || this.#bytes >= changeBytesMax;
  }

  service(service: ExportedService): void {
    this.#services.push(service);
    this.#grow(service, 0);
  }

  /** `false`: the instance is larger than any peer accepts, and is left out. */
  instance(instance: ExportedInstance): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(instance));
    if (bytes > this.#bounds.instanceBytesMax) return false;
    this.#instances.push(instance);
    this.#grow(instance, bytes);
    return true;
  }

  removedService(service: ServiceKey): void {
    this.#removedServices.push(service);
    this.#grow(service, 0);
  }

  removedInstance(instance: InstanceKey): void {
    this.#removedInstances.push(instance);
    this.#grow(instance, instance.id.length);
  }

  frame(id: number): ChangeFrame {
    return {
      type: 'change',
      id,
      services: this.#services,
      instances: this.#instances,
      removedServices: this.#removedServices,
      removedInstances: this.#removedInstances,
    };
  }

  #grow(key: ServiceKey, bytes: number): void {
    this.touched.add(textOfService(key));
    this.#count++;
    this.#bytes += bytes;
  }
}

/** The fields of an instance that peers get. */
export const exportedInstance = (row: ServiceRegistration): ExportedInstance => ({
  namespace: row.Namespace,
  name: row.ServiceName,
  id: row.ID,
  address: row.Address,
  port: row.Port,
  tags: row.Tags ?? [],
  meta: row.Meta ?? {},
  weights: {
    passing: Math.max(row.Weights?.Passing ?? 1, 0),
    warning: Math.max(row.Weights?.Warning ?? 1, 0),
  },
  datacenter: row.Datacenter,
  status: row.Status,
});
