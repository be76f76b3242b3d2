import { live } from '../app/connection.svelte.ts';
import type { Problem } from '../app/problems.ts';
import { limits } from './limits.ts';
import type { WatchAbout } from './live.ts';
import { likeness } from './same-question.ts';

export interface Query<T> {
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  /** The server knows of no leader, so that it may be behind. */
  readonly isStale: boolean;
  readonly receivedMs: number;
  /** Until when the answer was the newest: it may have come long before. */
  readonly asOfMs: number;
  readonly nextToken: string | undefined;
  /** Of a list that is asked for its `total`. */
  readonly total: number | undefined;
}

/** Follows a read of the API for as long as the component is there. */
export function query<T>(path: () => string | undefined): Query<T> {
  let answer = $state.raw<{ readonly value: T; readonly about: WatchAbout } | undefined>();
  let problem = $state.raw<Problem | undefined>();
  let isLoading = $state(true);
  /** The answer is the last one that the server gave, and it gives no newer one. */
  let isKept = $state(false);
  /** The path of the answer or the problem. */
  let answered: string | undefined;
  const forget = (): void => {
    answer = undefined;
    problem = undefined;
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
      forget();
      isLoading = false;
      isKept = false;
    };
    const end = live().watch<T>(asked, {
      value(value, about) {
        arrived();
        answer = { value, about };
      },
      refused(refusal) {
        // Without a leader for minutes, reads are refused. The last answer stays, with its age.
        if (refusal.code === 'no-leader' && answered === asked && answer !== undefined) {
          isKept = true;
          return;
        }
        arrived();
        problem = refusal;
      },
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  });
  return {
    get value() {
      return answer?.value;
    },
    get problem() {
      return problem;
    },
    get isLoading() {
      return isLoading;
    },
    get isOld() {
      return answer !== undefined && (isKept || live().state.kind === 'away');
    },
    get isStale() {
      return answer?.about.stale === true;
    },
    get receivedMs() {
      return answer?.about.receivedMs ?? 0;
    },
    get asOfMs() {
      const { leaderlessMs, followedMs } = live().state;
      return Math.max(answer?.about.receivedMs ?? 0, leaderlessMs ?? followedMs);
    },
    get nextToken() {
      return answer?.about.nextToken;
    },
    get total() {
      return answer?.about.total;
    },
  };
}
