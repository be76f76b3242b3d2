import type { ServiceStatus } from '../service-registration/service-registration.ts';

/**
 * The frames of two peered clusters once their stream is open: the services that each exports, instance by
 * instance. Both sides send and receive alike. Source: docs/behaviour/peering.md#imported-services.
 *
 * Invariants
 *  X1. A stream begins with `begin`, which may come again after `complete`. Rows that the receiver has from
 *      this peer stay until `complete`, and are then dropped where they were not told again. So a reader
 *      never sees a gap.
 *  X2. Each `change` is whole: it is written in one transaction, and acknowledged after that. Services
 *      that it removes go afterwards, before the acknowledgement, a bounded number of rows at a time.
 *  X3. The sender has at most `limits.peering.window` changes that are not acknowledged, and makes the
 *      next ones from the state as it is then: a slow peer costs no queue.
 *  X4. A receiver takes only what the sender can own: its rows carry the peer's name, which no frame
 *      says.
 */
export type ExchangeFrame =
  | { readonly type: 'begin' }
  | {
      readonly type: 'change';
      /** Counts from 1 in each stream. */
      readonly id: number;
      /** Services that are exported: also those that have no instance. */
      readonly services: readonly ExportedService[];
      readonly instances: readonly ExportedInstance[];
      /** Services that are exported no more, with all their instances. */
      readonly removedServices: readonly ServiceKey[];
      readonly removedInstances: readonly InstanceKey[];
    }
  /** Everything there is was told once. */
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
  /** `tcp`, `http`, …: how it is spoken to. */
  readonly protocol: string;
}

/**
 * An instance as the other cluster may know it: no job, allocation or node of ours is named. Its id is
 * the same on both sides, so that people speak of it by one name.
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
