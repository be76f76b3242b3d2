/**
 * A node without a machine, for tests in virtual time. It is the node of the product (its loops to the servers,
 * and its runners of allocations and tasks) without files, whose tasks are the timers of the mock driver.
 *
 * Invariants
 *  V1. The node keeps its identity when it loses its power, and nothing else.
 *  V2. After `lose` none of its timers runs and no server hears of it.
 */
import type { Crash } from '../drivers/mock.ts';
import type { IdentityStore, NodeIdentity } from '../identity.ts';
import { VirtualLife, type VirtualNodeOptions } from './virtual-life.ts';

export class VirtualNode {
  readonly id: string;
  readonly name: string;
  readonly meta: Readonly<Record<string, string>>;
  readonly #options: VirtualNodeOptions;
  readonly #identities: IdentityStore;
  #life: VirtualLife | undefined;

  constructor(options: VirtualNodeOptions) {
    const { world, name } = options;
    let identity: NodeIdentity = {
      id: world.ids.uuid(),
      secret: world.secrets.uuid(),
      introduced: false,
    };
    this.id = identity.id;
    this.name = name;
    this.meta = { ...options.settings.meta };
    this.#options = options;
    this.#identities = {
      read: async () => identity,
      write: async (newer) => {
        identity = newer;
      },
    };
  }

  /** Switches the node on. Resolves when a server has registered it. */
  async start(): Promise<void> {
    this.#life ??= new VirtualLife(this.#options, this.id, this.#identities);
    await this.#life.registered();
  }

  /** Takes the power away: its tasks are gone, and nobody is told. */
  lose(): void {
    this.#life?.end();
    this.#life = undefined;
  }

  /** Ends tasks of an allocation as a crash does. Returns how many there were. */
  crash(allocId: string, crash?: Crash): number {
    return this.#life?.crash(allocId, crash) ?? 0;
  }
}
