import type { Timer } from '../../base/ports.ts';
import { isExpired } from '../../model/acl-token/acl-token.ts';
import { limits } from '../../model/limits.ts';
import { aclTokens } from '../../state/tables.ts';
import type { ServerContext } from '../context.ts';

/**
 * Removes the rows of expired tokens, to free memory: a token is refused from the moment it
 * expires, removed or not. Source: docs/behaviour/access-control.md#expired-tokens.
 */
export class TokenReaper {
  readonly #context: ServerContext;
  #timer: Timer | undefined;
  #dueMs = Number.POSITIVE_INFINITY;
  #unlisten: (() => void) | undefined;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  start(): void {
    this.#unlisten = this.#context.state.onCommit((changes) => {
      for (const { table, after } of changes) {
        if (table !== aclTokens.name || after === undefined) continue;
        const { ExpirationTime } = after as unknown as { ExpirationTime: number };
        if (ExpirationTime !== 0) this.#reapAt(ExpirationTime);
      }
    });
    this.#expectNext();
  }

  stop(): void {
    this.#unlisten?.();
    this.#timer?.clear();
  }

  #expectNext(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    const next = this.#context.state.read().table(aclTokens).by('expiration').scan().next();
    if (!next.done) this.#reapAt(next.value.ExpirationTime);
  }

  #reapAt(dueMs: number): void {
    if (dueMs >= this.#dueMs) return;
    this.#dueMs = dueMs;
    this.#timer?.clear();
    const { timers, clock } = this.#context.world;
    this.#timer = timers.after(Math.max(0, dueMs - clock.nowMs()), () => void this.#reap());
  }

  async #reap(): Promise<void> {
    const { state, world, log } = this.#context;
    try {
      await state.write((transaction) => {
        const nowMs = world.clock.nowMs();
        const table = transaction.table(aclTokens);
        const expired = [];
        for (const token of table.by('expiration').scan()) {
          if (!isExpired(token, nowMs)) break;
          expired.push(token);
          if (expired.length === limits.acl.reapedPerTransactionMax) break;
        }
        for (const { Partition, Namespace, AccessorID } of expired) {
          table.delete(Partition, Namespace, AccessorID);
        }
      });
      this.#expectNext();
    } catch (error) {
      log.warn({ error }, 'expired tokens could not be removed; they stay dead');
      this.#dueMs = Number.POSITIVE_INFINITY;
      this.#reapAt(world.clock.nowMs() + limits.acl.reapRetryMs);
    }
  }
}
