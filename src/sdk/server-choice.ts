import type { Random } from '../base/ports.ts';

/** The IP addresses of the machines behind a host name. Rejects with the system's error. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ChoiceOptions {
  /** At least one: `http://host:port` or `https://host:port`. */
  readonly addresses: readonly string[];
  /** Gives each client an order of its own, so that not all ask the same server; absent: the given order. */
  readonly random?: Pick<Random, 'below'> | undefined;
  /** Absent: each address is a single server. */
  readonly resolve?: Resolve | undefined;
}

/** A server: an address, or one of several machines behind its host name. */
export class Target {
  readonly address: string;
  readonly ip: string | undefined;
  /** Aborts when the choice leaves this server. */
  left = new AbortController();

  constructor(address: string, ip?: string) {
    this.address = address;
    this.ip = ip;
  }

  /** For messages. */
  get name(): string {
    return this.ip === undefined ? this.address : `${this.address} (${this.ip})`;
  }
}

/** Why a server did not take a call. */
export interface Failure {
  readonly target: Target;
  readonly error: unknown;
}

/** None of several servers took a call. */
export class NoServer extends Error {
  override readonly name = 'NoServer';
  readonly failures: readonly Failure[];

  constructor(failures: readonly Failure[]) {
    super(reasonsOf(failures));
    this.failures = failures;
  }
}

/**
 * Chooses the server that a client asks. All requests go to the same server until that server fails. All
 * parts of a node share one choice.
 *
 * Invariants
 *  C1. A call tries each server at most once, the current server first.
 *  C2. The choice moves only when a call fails at the current server and succeeds at another; an
 *      error that all servers give moves nothing.
 *  C3. When the choice moves, requests that still wait for the head of the old server's answer, and may be
 *      repeated, are sent to the new server: a silently dead server delays nobody once a single call has
 *      noticed it.
 *  C4. A host name is looked up before the first call, and again when no known server took a call. Then
 *      the call goes on to machines that the name did not have before.
 */
export class ServerChoice {
  readonly addresses: readonly string[];
  readonly #options: ChoiceOptions;
  #targets: readonly Target[] = [];
  /** Known once there are targets. */
  #current: Target | undefined;
  #lookup: Promise<void> | undefined;

  constructor(options: ChoiceOptions) {
    this.#options = options;
    this.addresses = this.#shuffled(options.addresses);
    if (!this.#hasNames) this.#setTargets(this.addresses.map((address) => new Target(address)));
  }

  /** The known servers. */
  get targets(): readonly Target[] {
    return this.#targets;
  }

  /** The name of the current server. */
  get current(): string {
    return this.#current?.name ?? this.addresses[0]!;
  }

  /**
   * Resolves with the answer of the first server that takes the call. `left` aborts when the choice
   * moves away from that server. Rejects with an error for which `movesOn` is `false`, with the error of
   * the only server, or with `NoServer`.
   */
  async call<T>(
    ask: (target: Target, left: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
    movesOn: (error: unknown) => boolean,
  ): Promise<T> {
    const failures: Failure[] = [];
    const tried = new Set<Target>();
    for (;;) {
      const target = this.#firstUntried(tried) ?? (await this.#lookedUp(tried));
      if (target === undefined) break;
      signal?.throwIfAborted();
      tried.add(target);
      try {
        const answer = await ask(target, target.left.signal);
        if (tried.has(this.#current!)) this.#moveTo(target);
        return answer;
      } catch (error) {
        if (signal?.aborted || !movesOn(error)) throw error;
        failures.push({ target, error });
      }
    }
    throw failures.length === 1 ? failures[0]!.error : new NoServer(failures);
  }

  /** The next server after a lookup of the names. */
  async #lookedUp(tried: ReadonlySet<Target>): Promise<Target | undefined> {
    if (!this.#hasNames) return undefined;
    // Calls that fail together look the names up together.
    this.#lookup ??= this.#lookUp().finally(() => {
      this.#lookup = undefined;
    });
    await this.#lookup;
    return this.#firstUntried(tried);
  }

  #firstUntried(tried: ReadonlySet<Target>): Target | undefined {
    const start = Math.max(0, this.#targets.indexOf(this.#current!));
    const inTurn = [...this.#targets.slice(start), ...this.#targets.slice(0, start)];
    return inTurn.find((target) => !tried.has(target));
  }

  #moveTo(target: Target): void {
    const former = this.#current!;
    if (former === target) return;
    this.#current = target;
    const { left } = former;
    former.left = new AbortController();
    left.abort(new Error(`${former.name} does not answer, and another server does`));
  }

  get #hasNames(): boolean {
    return this.#options.resolve !== undefined && this.addresses.some(isNamed);
  }

  /** Servers that stay keep their place, and new ones come behind them. */
  async #lookUp(): Promise<void> {
    const found = (
      await Promise.all(this.addresses.map((address) => this.#machinesOf(address)))
    ).flat();
    const kept = this.#targets.filter((target) => found.some((one) => isSame(one, target)));
    const fresh = found.filter((target) => !kept.some((one) => isSame(one, target)));
    this.#setTargets([...kept, ...this.#shuffled(fresh)]);
  }

  #setTargets(targets: readonly Target[]): void {
    this.#targets = targets;
    this.#current ??= targets[0];
  }

  /** Without an answer of the resolver the known machines stay. */
  async #machinesOf(address: string): Promise<readonly Target[]> {
    if (!isNamed(address)) return [new Target(address)];
    try {
      const ips = await this.#options.resolve!(new URL(address).hostname);
      if (ips.length > 1) return ips.map((ip) => new Target(address, ip));
    } catch {
      const known = this.#targets.filter((target) => target.address === address);
      if (known.length > 0) return known;
    }
    // The connection looks the name up itself, and tells why it cannot.
    return [new Target(address)];
  }

  #shuffled<T>(items: readonly T[]): readonly T[] {
    const { random } = this.#options;
    const order = [...items];
    if (random === undefined) return order;
    for (let last = order.length - 1; last > 0; last--) {
      const other = random.below(last + 1);
      [order[last], order[other]] = [order[other]!, order[last]!];
    }
    return order;
  }
}

/** Whether the host may stand for several machines. */
export function isNamed(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname !== 'localhost' && !hostname.startsWith('[') && !/^\d+(\.\d+){3}$/.test(hostname);
}

const isSame = (one: Target, other: Target): boolean => one.name === other.name;

const reasonsOf = (failures: readonly Failure[]): string => {
  const reasons = failures.map(({ target, error }) => {
    // The first sentence is the reason, and advice follows.
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split(
      /(?<=\.) /,
    );
    return reason.includes(target.address) ? reason : `${target.name}: ${reason}`;
  });
  return `None of the ${failures.length} servers took the request. ${reasons.join(' ')}`;
};
