/** A server of the cluster, as it announced itself. */
export interface Announced {
  readonly id: string;
  /** `host:port` under which the other servers reach its API. */
  readonly address: string;
  readonly version: string;
}

/**
 * Where a server learns of the other servers. Nothing is safe because of it: a server in the list still has
 * to prove the root key, and a server that proves it is known without being in the list.
 */
export interface Membership {
  /** Tells the others of this server. Returns the function that takes it back. */
  announce(self: Announced): () => void;
  members(): readonly Announced[];
  /** Calls `listen` after each change. Returns the function that ends this. */
  onChange(listen: () => void): () => void;
}

/** The servers of a single process, or of a list that does not change. */
export class ListedServers implements Membership {
  readonly #members = new Map<string, Announced>();
  readonly #listeners = new Set<() => void>();

  constructor(members: readonly Announced[] = []) {
    for (const member of members) this.#members.set(member.id, member);
  }

  announce(self: Announced): () => void {
    this.#members.set(self.id, self);
    this.#tellListeners();
    return () => {
      if (this.#members.get(self.id) !== self) return;
      this.#members.delete(self.id);
      this.#tellListeners();
    };
  }

  members(): readonly Announced[] {
    return [...this.#members.values()];
  }

  onChange(listen: () => void): () => void {
    const listener = () => listen();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tellListeners(): void {
    for (const listen of [...this.#listeners]) listen();
  }
}
