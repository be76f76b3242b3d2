import type { ServiceStatus } from '../service-registration/service-registration.ts';

/**
 * The frames between two peered clusters once their stream is open: the services that each exports, instance
 * by instance. Both sides send and receive in the same way.
 * Source: docs/behaviour/peering.md#imported-services.
 *
 * Invariants
 *
 *  X1. A stream begins with `begin`, which may come again after `complete`. Rows that the receiver has
 *      from this peer stay until `complete`; rows that were not sent again by then are dropped. So a reader
 *      never sees a gap.
 *  X2. Each `change` is whole: it is written in a transaction, and acknowledged after that. Services that
 *      it removes are deleted after the transaction and before the acknowledgement, a bounded number of rows
 *      at a time.
 *  X3. The sender has at most `limits.peering.window` changes that are not acknowledged, and makes the
 *      next changes from the state at that time: a slow peer costs no queue.
 *  X4. A receiver takes only rows that the sender can own: they carry the peer's name, which no frame
 *      gives.
 */
export type ExchangeFrame =
  | { readonly type: 'begin' }
  | {
      readonly type: 'change';
      /** Counts from 1 in each stream. */
      readonly id: number;
      /** Exported services, also those without an instance. */
      readonly services: readonly ExportedService[];
      readonly instances: readonly ExportedInstance[];
      /** Services that are no longer exported, with all their instances. */
      readonly removedServices: readonly ServiceKey[];
      readonly removedInstances: readonly InstanceKey[];
    }
  /** All services and instances were sent once. */
  | { readonly type: 'complete' }
  | { readonly type: 'acknowledge'; readonly id: number };

export interface ServiceKey {
  readonly namespace: string;
  readonly name: string;
}

export interface InstanceKey extends ServiceKey {
  readonly id: string;
}

export interface ExportedService extends ServiceKey {
  /** The protocol of the service: `tcp`, `http`, …. */
  readonly protocol: string;
}

/**
 * An instance as the other cluster may know it: without the job, allocation and node of this cluster. Its id
 * is the same on both sides, so that people can refer to it.
 */
export interface ExportedInstance extends InstanceKey {
  readonly address: string;
  readonly port: number;
  readonly tags: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
  readonly weights: { readonly passing: number; readonly warning: number };
  readonly datacenter: string;
  readonly status: ServiceStatus;
}
