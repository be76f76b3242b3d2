import { durationMs } from '../base/duration.ts';
import type { World } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import { Backoff } from './backoff.ts';
import { type NodeIdentity, readIdentity, writeIdentity } from './identity.ts';
import { reasonOf, type ServerApi, statusOf } from './server-api.ts';

export interface RegistrationOptions {
  readonly world: Pick<World, 'timers' | 'random' | 'ids' | 'secrets'>;
  readonly api: Pick<ServerApi, 'register'>;
  readonly dataDirectory: string;
  /** Shown at the first registration; later the node shows its own secret. */
  readonly introduction: (() => Promise<string>) | undefined;
  /** The agent ends. */
  readonly signal: AbortSignal;
  /** A server has taken what the node tells of itself. Called each time. */
  readonly onRegistered: () => void;
  readonly onNotice: (sentence: string) => void;
}

/**
 * Who the node is to its servers, what it tells them of itself, and whether they know it.
 *
 * Invariants
 *  R1. Everybody who needs that servers know the node waits for the same registration, the newest.
 *  R2. The introduction is shown only until a server took the node's own secret, and again when
 *      servers have lost it.
 *  R3. One registration is under way at a time, so an older one never overtakes a newer one.
 */
export class Registration {
  readonly #options: RegistrationOptions;
  #identity: NodeIdentity | undefined;
  #node: NodeRegistration | undefined;
  #registering: Promise<number> | undefined;
  /** Resolves when no registration is under way. */
  #idle: Promise<unknown> = Promise.resolve();

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /** Comes first. Rejects when the data directory cannot be used. */
  async readIdentity(): Promise<void> {
    this.#identity = await readIdentity(this.#options.dataDirectory, this.#options.world);
  }

  /** The node's id; empty before `readIdentity`. */
  get id(): string {
    return this.#identity?.id ?? '';
  }

  get secret(): string {
    return this.#identity?.secret ?? '';
  }

  /** What the node tells; `undefined` before the first `describe`. */
  get node(): NodeRegistration | undefined {
    return this.#node;
  }

  /** From now on the node tells this. Servers hear it with the next `done`. */
  describe(node: NodeRegistration): void {
    this.#node = node;
    this.#registering = undefined;
  }

  /** Resolves, with the time to live in ms, when a server knows this node. Rejects at the end. */
  done(): Promise<number> {
    if (this.#registering === undefined) {
      this.#registering = this.#idle.then(() => this.#register());
      this.#idle = this.#registering.catch(() => {});
    }
    return this.#registering;
  }

  /** A server that does not know this node, or its secret, must be told again. */
  noteError(error: unknown): void {
    const status = statusOf(error);
    if (status === 404 || status === 403) this.#registering = undefined;
  }

  async #register(): Promise<number> {
    const { api, world, signal, onRegistered, onNotice } = this.#options;
    const { timers, random } = world;
    const [minMs, maxMs] = [limits.stream.reconnectMinMs, limits.node.registrationRetryMs];
    const backoff = new Backoff({ minMs, maxMs, timers, random });
    for (;;) {
      try {
        const body = { Node: this.#node!, SecretID: this.secret };
        const { HeartbeatTTL } = await this.#withTokens((token) =>
          api.register(body, token, signal),
        );
        await this.#noteIntroduced();
        onRegistered();
        return durationMs(HeartbeatTTL);
      } catch (error) {
        if (signal.aborted) throw error;
        onNotice(`the node could not register: ${reasonOf(error)}`);
      }
      await backoff.wait(signal);
      if (signal.aborted) throw new Error('the node is stopping');
    }
  }

  /** R2. */
  async #withTokens<T>(call: (token: string) => Promise<T>): Promise<T> {
    const { introduction } = this.#options;
    const { secret } = this;
    if (introduction === undefined) return call(secret);
    const introduced = async () => call(await introduction());
    const [first, then] = this.#identity?.introduced
      ? [() => call(secret), introduced]
      : // An answer that was lost may have been that the node is in, and the token is used up.
        [introduced, () => call(secret)];
    try {
      return await first();
    } catch (error) {
      if (statusOf(error) !== 403 && statusOf(error) !== 404) throw error;
      return await then().catch((second: unknown) => {
        throw first === introduced ? error : second;
      });
    }
  }

  async #noteIntroduced(): Promise<void> {
    if (this.#identity === undefined || this.#identity.introduced) return;
    this.#identity = { ...this.#identity, introduced: true };
    await writeIdentity(this.#options.dataDirectory, this.#identity);
  }
}
