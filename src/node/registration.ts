import { durationMs } from '../base/duration.ts';
import type { World } from '../base/ports.ts';
import { limits } from '../model/limits.ts';
import type { NodeRegistration } from '../model/node/node.ts';
import { Backoff } from './backoff.ts';
import type { IdentityStore, NodeIdentity } from './identity.ts';
import {
  type RegisterAnswer,
  reasonOf,
  retryAfterMsOf,
  type ServerApi,
  statusOf,
} from './server-api.ts';
import type { ServerContact } from './server-contact.ts';

export interface RegistrationOptions {
  readonly world: Pick<World, 'timers' | 'random'>;
  readonly api: Pick<ServerApi, 'register'>;
  readonly contact: Pick<ServerContact, 'during'>;
  readonly identities: IdentityStore;
  /** Reads the introduction token, for the first registration. */
  readonly introduction: (() => Promise<string>) | undefined;
  readonly signal: AbortSignal;
  /** Called after each registration that a server has accepted. */
  readonly onRegistered: (answer: RegisterAnswer) => void;
  readonly onNotice: (sentence: string) => void;
}

/**
 * The node's identity, its description, and whether the servers have both.
 *
 * Invariants
 *  R1. All callers that need a registered node wait for the same registration, the newest.
 *  R2. The introduction token is shown until a server has accepted the node's own secret, and again
 *      when servers have lost that secret.
 *  R3. One registration is under way at a time, so an older one never overtakes a newer one.
 *  R4. Changes of the description are made one after another, so none undoes another.
 */
export class Registration {
  readonly #options: RegistrationOptions;
  #identity: NodeIdentity | undefined;
  #node: NodeRegistration | undefined;
  #restored = 0;
  #registering: Promise<number> | undefined;
  /** Resolves when no change of the description is under way. */
  #changing: Promise<unknown> = Promise.resolve();
  /** Resolves when no registration is under way. */
  #idle: Promise<unknown> = Promise.resolve();

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /** To be called first. Rejects when the identity cannot be read. */
  async readIdentity(): Promise<void> {
    this.#identity = await this.#options.identities.read();
  }

  /** The node's id; empty before `readIdentity`. */
  get id(): string {
    return this.#identity?.id ?? '';
  }

  get secret(): string {
    return this.#identity?.secret ?? '';
  }

  /** The node's description; `undefined` before the first `describe`. */
  get node(): NodeRegistration | undefined {
    return this.#node;
  }

  /** Index of the last restore of a snapshot that the servers have told of; 0: of none. */
  get restored(): number {
    return this.#restored;
  }

  /** Sets the node's description. The next `done` sends it to a server. */
  describe(node: NodeRegistration): void {
    this.#node = node;
    this.#registering = undefined;
  }

  /**
   * Changes the description, and registers the node again if it is another one: then `true`. Resolves when a server
   * has accepted it, or after the time, or when the agent ends. R4.
   */
  async change(
    by: (node: NodeRegistration) => Promise<NodeRegistration>,
    withinMs = 0,
  ): Promise<boolean> {
    const changed = this.#changing.then(async () => {
      const told = this.#node;
      const node = told && (await by(told));
      if (node === undefined || node === told || this.#options.signal.aborted) return false;
      this.describe(node);
      this.done().catch(() => {});
      return true;
    });
    this.#changing = changed.catch(() => {});
    if ((await changed) && withinMs > 0) await this.#acceptedWithin(withinMs);
    return changed;
  }

  /** Resolves with the heartbeat's time to live in ms, once a server knows this node. */
  done(): Promise<number> {
    if (this.#registering === undefined) {
      this.#registering = this.#idle.then(() => this.#registerNode());
      this.#idle = this.#registering.catch(() => {});
    }
    return this.#registering;
  }

  async #acceptedWithin(timeMs: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = this.#options.world.timers.after(timeMs, late.resolve);
    await Promise.race([this.done().catch(() => {}), late.promise]);
    timer.clear();
  }

  /** Registers again if the error says that a server does not know this node or its secret. */
  noteError(error: unknown): void {
    const status = statusOf(error);
    if (status === 404 || status === 403) this.#registering = undefined;
  }

  async #registerNode(): Promise<number> {
    const { api, contact, world, signal, onRegistered, onNotice } = this.#options;
    const { timers, random } = world;
    const [minMs, maxMs] = [limits.stream.reconnectMinMs, limits.node.registrationRetryMs];
    const backoff = new Backoff({ minMs, maxMs, timers, random });
    for (;;) {
      let leastMs = 0;
      try {
        const body = { Node: this.#node!, SecretID: this.secret };
        const answer = await this.#withTokens((token) =>
          contact.during(() => api.register(body, token, signal)),
        );
        await this.#noteIntroduced();
        onRegistered(answer);
        this.#restored = answer.Restored?.Index ?? this.#restored;
        return durationMs(answer.HeartbeatTTL);
      } catch (error) {
        if (signal.aborted) throw error;
        onNotice(`the node could not register: ${reasonOf(error)}`);
        leastMs = retryAfterMsOf(error);
      }
      await backoff.wait(signal, leastMs);
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
    await this.#options.identities.write(this.#identity);
  }
}
