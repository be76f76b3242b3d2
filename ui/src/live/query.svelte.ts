import { live } from '../app/connection.svelte.ts';
import type { Problem } from '../app/problems.ts';
import { limits } from './limits.ts';
import { likeness } from './same-question.ts';

export interface Query<T> {
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  /** The server knows of no leader, so that it may be behind. */
  readonly isStale: boolean;
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
  let isStale = $state(false);
  /** Of the value or the problem. */
  let answered: string | undefined;
  const forget = (): void => {
    value = undefined;
    problem = undefined;
    nextToken = undefined;
    total = undefined;
  };
  $effect(() => {
    const asked = path();
    isLoading = asked !== undefined;
    const like = answered === undefined ? 'same' : likeness(answered, asked);
    if (like === 'other') forget();
    if (asked === undefined) return;
    // Rows of the filter or the order before stay while the next ones come, but not for long.
    const timer = like === 'near' ? setTimeout(forget, limits.keepAnswerMs) : undefined;
    const arrived = (): void => {
      clearTimeout(timer);
      answered = asked;
    };
    const end = live().watch<T>(asked, {
      value(next, about) {
        arrived();
        value = next;
        isStale = about.stale;
        nextToken = about.nextToken;
        total = about.total;
        receivedMs = about.receivedMs;
        problem = undefined;
        isLoading = false;
      },
      refused(refusal) {
        arrived();
        problem = refusal;
        value = undefined;
        isLoading = false;
      },
    });
    return () => {
      clearTimeout(timer);
      end();
    };
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
    get isStale() {
      return value !== undefined && isStale;
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
