import { live } from '../app/connection.svelte.ts';
import type { Problem } from '../app/problems.ts';

export interface Query<T> {
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  readonly receivedMs: number;
  readonly nextToken: string | undefined;
  /** Of a list that is asked for its `total`. */
  readonly total: number | undefined;
}

/** Follows a read of the API for as long as the component is there. */
export function query<T>(path: () => string | undefined): Query<T> {
  let value = $state.raw<T | undefined>();
  let problem = $state.raw<Problem | undefined>();
  let nextToken = $state.raw<string | undefined>();
  let total = $state.raw<number | undefined>();
  let receivedMs = $state(0);
  let isLoading = $state(true);
  $effect(() => {
    const asked = path();
    isLoading = asked !== undefined;
    if (asked === undefined) return;
    return live().watch<T>(asked, {
      value(next, about) {
        value = next;
        nextToken = about.nextToken;
        total = about.total;
        receivedMs = about.receivedMs;
        problem = undefined;
        isLoading = false;
      },
      refused(refusal) {
        problem = refusal;
        value = undefined;
        isLoading = false;
      },
    });
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
      return value !== undefined && live().state.kind === 'away';
    },
    get receivedMs() {
      return receivedMs;
    },
    get nextToken() {
      return nextToken;
    },
    get total() {
      return total;
    },
  };
}
