import { delay, type Random, type Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type {
  IdentityAnswer,
  IdentityRequest,
  IssuedIdentity,
} from '../../model/workload/identity-request.ts';
import { Backoff } from '../backoff.ts';
import { statusOf } from '../server-api.ts';

/** The servers refuse this identity for good. */
export class IdentityRefusal extends Error {
  override readonly name = 'IdentityRefusal';
}

export interface IdentitySource {
  /** Asks until servers answer. Rejects with {@link IdentityRefusal}, or when `signal` aborts. */
  issue(request: IdentityRequest, signal: AbortSignal): Promise<IssuedIdentity>;
}

export interface IdentitySourceOptions {
  readonly timers: Timers;
  readonly random: Random;
  readonly send: (
    requests: readonly IdentityRequest[],
    signal: AbortSignal,
  ) => Promise<IdentityAnswer>;
  readonly onError: (error: unknown) => void;
  /** Aborted when the agent ends. */
  readonly signal: AbortSignal;
}

interface Wanted {
  readonly request: IdentityRequest;
  readonly resolve: (issued: IssuedIdentity) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Asks the servers for tokens, for many tasks at once.
 *
 * Invariants
 *  S1. One request is under way at a time; tokens that are asked for meanwhile go into the next
 *      one.
 *  S2. A failed request is repeated, with growing pauses, as long as anybody waits for it; a
 *      refused one is not.
 */
export class BatchedIdentitySource implements IdentitySource {
  readonly #options: IdentitySourceOptions;
  readonly #wanted = new Set<Wanted>();
  #isRunning = false;

  constructor(options: IdentitySourceOptions) {
    this.#options = options;
  }

  issue(request: IdentityRequest, signal: AbortSignal): Promise<IssuedIdentity> {
    const either = AbortSignal.any([signal, this.#options.signal]);
    if (either.aborted) return Promise.reject(new Error('nobody waits for the token any more'));
    return new Promise((resolve, reject) => {
      const abort = () => settle(() => reject(new Error('nobody waits for the token any more')));
      const settle = (how: () => void) => {
        either.removeEventListener('abort', abort);
        this.#wanted.delete(wanted);
        how();
      };
      const wanted: Wanted = {
        request,
        resolve: (issued) => settle(() => resolve(issued)),
        reject: (error) => settle(() => reject(error)),
      };
      either.addEventListener('abort', abort, { once: true });
      this.#wanted.add(wanted);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { timers, random, signal, onError } = this.#options;
    const { gatherMs, retryMinMs: minMs, retryMaxMs: maxMs, batchMax } = limits.identity;
    const backoff = new Backoff({ minMs, maxMs, timers, random });
    while (this.#wanted.size > 0 && !signal.aborted) {
      await delay(timers, gatherMs, signal);
      const batch = [...this.#wanted].slice(0, batchMax);
      if (batch.length === 0) continue;
      try {
        const requests = batch.map(({ request }) => request);
        this.#deliver(batch, await this.#options.send(requests, signal));
        backoff.reset();
      } catch (error) {
        if (signal.aborted) break;
        onError(error);
        if (statusOf(error) === 400) {
          for (const wanted of batch) wanted.reject(new IdentityRefusal(reasonOf(error)));
        } else await backoff.wait(signal);
      }
    }
    this.#isRunning = false;
  }

  #deliver(batch: readonly Wanted[], { Identities, Refused }: IdentityAnswer): void {
    const issued = new Map(Identities.map((one) => [keyOf(one), one]));
    const reasons = new Map(Refused.map((one) => [keyOf(one), one.Reason]));
    for (const { request, resolve, reject } of batch) {
      const key = keyOf(request);
      const found = issued.get(key);
      if (found !== undefined) resolve(found);
      else reject(new IdentityRefusal(reasons.get(key) ?? 'the servers do not answer for it'));
    }
  }
}

const keyOf = ({ AllocID, Task, Name }: IdentityRequest): string =>
  [AllocID, Task, Name].join('\0');

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
