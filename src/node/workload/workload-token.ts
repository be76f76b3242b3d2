import { defaultIdentityName } from '../../model/workload/claims.ts';
import type { IdentitySource } from './identity-source.ts';

/** A task of an allocation. */
export interface Workload {
  readonly allocation: string;
  readonly task: string;
}

/**
 * The token by which the node reads in the name of a task: so it is exactly what the task may read.
 * It is asked for when it is first needed, and again once the servers have refused it.
 */
export class WorkloadToken {
  readonly #source: IdentitySource;
  readonly #workload: Workload;
  #token: Promise<string> | undefined;

  constructor(source: IdentitySource, workload: Workload) {
    this.#source = source;
    this.#workload = workload;
  }

  /** Rejects with `IdentityRefused`, or when it is aborted. */
  current(signal: AbortSignal): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    const { allocation: AllocID, task: Task } = this.#workload;
    const request = { AllocID, Task, Name: defaultIdentityName };
    const token = this.#source.issue(request, signal).then(({ Token }) => Token);
    this.#token = token;
    token.catch(() => this.#forget(token));
    return token;
  }

  /** It may be done with, its key taken out. */
  refused(): void {
    this.#forget(this.#token);
  }

  #forget(token: Promise<string> | undefined): void {
    if (this.#token === token) this.#token = undefined;
  }
}
