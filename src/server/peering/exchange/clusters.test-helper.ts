/** For tests: two clusters, each with a state and an exchange, and the link between them. */
import type { SimulatedWorld } from '../../../base/ports-simulated.ts';
import type { SecretBox } from '../../../base/secret-box.ts';
import type { ConfigKindName } from '../../../model/config-entry/config-entry.ts';
import { limits } from '../../../model/limits.ts';
import type { ExchangeFrame } from '../../../model/peering/exchange.ts';
import type { ExportsEntry } from '../../../model/peering/exports.ts';
import type { ImportedInstance } from '../../../model/peering/imported.ts';
import type { StoredPeering } from '../../../model/peering/peering.ts';
import type { ServiceRegistration } from '../../../model/service-registration/service-registration.ts';
import { memoryState } from '../../../state/state.test-helper.ts';
import {
  allTables,
  configEntries,
  importedInstances,
  importedServices,
  peerings,
  serviceRegistrations,
} from '../../../state/tables.ts';
import type { State, Unstamped } from '../../../state/types.ts';
import { type ServerContext, silentLog } from '../../context.ts';
import type { ExchangeLink, OpenExchange } from '../exchange.ts';
import type { ExchangeBounds } from './bounds.ts';
import { ServiceExchange } from './service-exchange.ts';

const noBox = {} as SecretBox;

export class Cluster {
  readonly state: State;
  readonly exchange: ServiceExchange;

  static async open(world: SimulatedWorld, bounds: Partial<ExchangeBounds> = {}) {
    const state = await memoryState(allTables, world);
    return new Cluster(state, world, { ...limits.peering, ...bounds });
  }

  constructor(state: State, world: SimulatedWorld, bounds: ExchangeBounds) {
    this.state = state;
    const common = { state, world, log: silentLog, region: 'global', box: noBox };
    const context: ServerContext = { ...common, openEvaluations: () => 0 };
    this.exchange = new ServiceExchange(context, bounds);
    this.exchange.start();
  }

  async peer(name: string, changes: Partial<StoredPeering> = {}): Promise<void> {
    const row = { ID: `to-${name}`, Name: name, Partition: 'default', State: 'ESTABLISHING' };
    await this.state.write((transaction) =>
      transaction.table(peerings).put({ ...row, ...changes } as Unstamped<StoredPeering>),
    );
  }

  async register(instance: Instance): Promise<void> {
    const { namespace = 'default', name, id, status = 'passing', port = 80 } = instance;
    const row = { ID: id, ServiceName: name, Namespace: namespace, Status: status, Port: port };
    const none = { TaskName: '', Tags: null, Meta: null, TaggedAddresses: null, Weights: null };
    const where = { NodeID: 'n1', Datacenter: 'dc1', JobID: 'web', AllocID: 'a1' };
    await this.state.write((transaction) =>
      transaction
        .table(serviceRegistrations)
        .put({ ...row, ...none, ...where, Address: '10.0.0.1', ...instance.changes }),
    );
  }

  async remove({ namespace = 'default', name, id }: Instance): Promise<void> {
    await this.state.write((transaction) =>
      transaction.table(serviceRegistrations).delete('default', namespace, name, id),
    );
  }

  /** `undefined`: there is no entry. */
  async export(Services: ExportsEntry['Services'] | undefined): Promise<void> {
    await this.state.write((transaction) => {
      const table = transaction.table(configEntries);
      if (Services === undefined)
        table.delete('default', 'default', 'exported-services', 'default');
      else table.put({ ...entryOf('exported-services', 'default'), Services } as never);
    });
  }

  async protocol(Name: string, Protocol: string): Promise<void> {
    await this.state.write((transaction) => {
      const entry = { ...entryOf('service-defaults', Name), Protocol };
      transaction.table(configEntries).put(entry as never);
    });
  }

  /** Adds or removes a routing entry. */
  async route(kind: ConfigKindName, name: string, isThere: boolean): Promise<void> {
    await this.state.write((transaction) => {
      const table = transaction.table(configEntries);
      if (isThere) table.put(entryOf(kind, name) as never);
      else table.delete('default', 'default', kind, name);
    });
  }

  importedFrom(peer: string): readonly ImportedInstance[] {
    const table = this.state.read().table(importedInstances);
    return [...table.scan({ prefix: ['default', peer] })];
  }

  /** `namespace/name protocol`. */
  servicesFrom(peer: string): readonly string[] {
    const table = this.state.read().table(importedServices);
    return [...table.scan({ prefix: ['default', peer] })].map(
      ({ Namespace, Name, Protocol }) => `${Namespace}/${Name} ${Protocol}`,
    );
  }
}

const entryOf = (Kind: string, Name: string) => ({
  Kind,
  Name,
  Namespace: 'default',
  Partition: 'default',
  Meta: null,
});

export interface Instance {
  readonly namespace?: string;
  readonly name: string;
  readonly id: string;
  readonly status?: ServiceRegistration['Status'];
  readonly port?: number;
  readonly changes?: Partial<ServiceRegistration>;
}

/** A rule of an `exported-services` entry, for one peer. */
export const rule = (Name: string, Peer: string, Namespace = 'default') => ({
  Name,
  Namespace,
  Consumers: [{ Peer, Partition: '', SamenessGroup: '' }],
});

/**
 * A stream between two clusters. Frames are encoded and decoded, and arrive in order, each after a
 * delay of its own.
 */
export class TestStream {
  readonly frames: ExchangeFrame[] = [];
  readonly faults: string[] = [];
  readonly #world: SimulatedWorld;
  readonly #delayMs: () => number;
  #isCut = false;
  readonly #ends: OpenExchange[] = [];

  constructor(world: SimulatedWorld, ends: readonly Cluster[], delayMs: () => number = () => 0) {
    this.#world = world;
    this.#delayMs = delayMs;
    const names = ['b', 'a'];
    ends.forEach((cluster, side) => {
      let lastMs = 0;
      const link: ExchangeLink = {
        peering: { partition: 'default', name: names[side]!, id: `to-${names[side]}` },
        send: (frame) => {
          if (this.#isCut) return false;
          this.frames.push(frame);
          const text = JSON.stringify(frame);
          const nowMs = this.#world.clock.monotonicMs();
          lastMs = Math.max(lastMs, nowMs + this.#delayMs());
          this.#world.timers.after(lastMs - nowMs, () => {
            if (!this.#isCut) this.#ends[1 - side]!.receive(JSON.parse(text));
          });
          return true;
        },
        fail: (reason) => {
          this.faults.push(reason);
          this.cut();
        },
      };
      this.#ends.push(cluster.exchange.open(link));
    });
  }

  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    for (const end of this.#ends) end.close();
  }
}
