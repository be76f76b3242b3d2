/**
 * An answer that is asked for again and again, as long as the component is there and somebody sees the page: for what
 * the server measures when it is asked, and cannot watch.
 */

import { clock } from '../app/clock.svelte.ts';
import { live } from '../app/connection.svelte.ts';
import { problemOf, type ShownProblem } from '../app/problems.ts';
import { limits } from './limits.ts';

export interface Sampled<T> {
  readonly value: T | undefined;
  readonly problem: ShownProblem | undefined;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  readonly receivedMs: number;
}

export interface SampledOptions<T> {
  /** The pause after an answer. */
  readonly everyMs?: number;
  readonly heard?: (value: T, atMs: number) => void;
}

/** @param ask `undefined`: nothing is asked. A change of the state that it reads before it waits begins it again. */
export function sampled<T>(
  ask: (signal: AbortSignal) => Promise<T> | undefined,
  { everyMs = limits.sampleMs, heard }: SampledOptions<T> = {},
): Sampled<T> {
  let value = $state.raw<T | undefined>();
  let problem = $state.raw<ShownProblem | undefined>();
  let receivedMs = $state(0);
  let isLoading = $state(true);

  async function follow(first: Promise<T> | undefined, signal: AbortSignal): Promise<void> {
    const next = (): Promise<T> | undefined => (signal.aborted ? undefined : ask(signal));
    for (let asked = first; asked !== undefined; asked = next()) {
      try {
        const answer = await asked;
        if (signal.aborted) return;
        value = answer;
        problem = undefined;
        receivedMs = clock.instantMs();
        heard?.(answer, receivedMs);
      } catch (error) {
        if (signal.aborted) return;
        problem = problemOf(error);
        // A lost connection leaves what is known; a refusal takes it away.
        if (problem.status !== undefined) value = undefined;
      }
      isLoading = false;
      await seenAfter(everyMs, signal);
    }
  }

  $effect(() => {
    const ending = new AbortController();
    value = undefined;
    problem = undefined;
    isLoading = true;
    void follow(ask(ending.signal), ending.signal);
    return () => ending.abort();
  });
  return {
    get value() {
      return value;
    },
    get problem() {
      return problem;
    },
    get isLoading() {
      return isLoading;
    },
    get isOld() {
      return value !== undefined && (problem !== undefined || live().state.kind === 'away');
    },
    get receivedMs() {
      return receivedMs;
    },
  };
}

/** Waits, and goes on waiting while the tab is hidden. */
async function seenAfter(pauseMs: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, pauseMs);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
  });
  if (signal.aborted || document.visibilityState === 'visible') return;
  await new Promise<void>((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
