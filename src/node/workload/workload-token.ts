import { durationMs } from '../../base/duration.ts';
import type { Clock } from '../../base/ports.ts';
import { defaultIdentityName } from '../../model/workload/claims.ts';
import type { IdentitySource } from './identity-source.ts';

/** A task of an allocation. */
export interface Workload {
  readonly allocation: string;
  readonly task: string;
}

/**
 * The token with which the node reads in the name of a task, so that it reads only what the task
 * may read. It is fetched when first needed, after half of its life, and after the servers have
 * refused it.
 */
export class WorkloadToken {
  readonly #source: IdentitySource;
  readonly #workload: Workload;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #token: Promise<string> | undefined;
  #renewAtMs = Number.POSITIVE_INFINITY;

  constructor(source: IdentitySource, workload: Workload, clock: Pick<Clock, 'monotonicMs'>) {
    this.#source = source;
    this.#workload = workload;
    this.#clock = clock;
  }

  /** Rejects with `IdentityRefusal`, or when `signal` aborts. */
  current(signal: AbortSignal): Promise<string> {
    const beganMs = this.#clock.monotonicMs();
    if (this.#token !== undefined && beganMs < this.#renewAtMs) return this.#token;
    const { allocation: AllocID, task: Task } = this.#workload;
    const request = { AllocID, Task, Name: defaultIdentityName };
    this.#renewAtMs = Number.POSITIVE_INFINITY;
    const token = this.#source.issue(request, signal).then(({ Token, TTL }) => {
      if (TTL > 0) this.#renewAtMs = beganMs + durationMs(TTL) / 2;
      return Token;
    });
    this.#token = token;
    token.catch(() => this.#forgetToken(token));
    return token;
  }

  /** The servers have refused the token, perhaps because its key was removed. */
  refused(): void {
    this.#forgetToken(this.#token);
  }

  #forgetToken(token: Promise<string> | undefined): void {
    if (this.#token === token) this.#token = undefined;
  }
}
