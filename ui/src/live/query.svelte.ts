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

/** The answer or the problem of a path. */
class Known<T> {
  answer = $state.raw<{ readonly value: T; readonly about: WatchAbout } | undefined>();
  problem = $state.raw<Problem | undefined>();
  isLoading = $state(true);
  /** The answer is the last one that the server gave, and it gives no newer one. */
  isKept = $state(false);
  path: string | undefined;

  forget(): void {
    this.answer = undefined;
    this.problem = undefined;
  }

  arrive(path: string): void {
    this.path = path;
    this.forget();
    this.isLoading = false;
    this.isKept = false;
  }
}

/** Follows a read of the API for as long as the component is there. */
export function query<T>(path: () => string | undefined): Query<T> {
  const known = new Known<T>();
  $effect(() => {
    const asked = path();
    known.isLoading = asked !== undefined;
    const like = known.path === undefined ? 'same' : likeness(known.path, asked);
    if (like === 'other') known.forget();
    if (asked === undefined) return;
    // Rows of the filter or the order before stay while the next ones come, but not for long.
    const timer =
      like === 'near' ? setTimeout(() => known.forget(), limits.keepAnswerMs) : undefined;
    const arrived = (): void => {
      clearTimeout(timer);
      known.arrive(asked);
    };
    const end = live().watch<T>(asked, {
      value(value, about) {
        arrived();
        known.answer = { value, about };
      },
      refused(refusal) {
        // Without a leader for minutes, reads are refused. The last answer stays, with its age.
        const keeps = known.path === asked && known.answer !== undefined;
        if (refusal.code === 'no-leader' && keeps) {
          known.isKept = true;
          return;
        }
        arrived();
        known.problem = refusal;
      },
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  });
  return queryOf(known);
}

function queryOf<T>(known: Known<T>): Query<T> {
  return {
    get value() {
      return known.answer?.value;
    },
    get problem() {
      return known.problem;
    },
    get isLoading() {
      return known.isLoading;
    },
    get isOld() {
      return known.answer !== undefined && (known.isKept || live().state.kind === 'away');
    },
    get isStale() {
      return known.answer?.about.stale === true;
    },
    get receivedMs() {
      return known.answer?.about.receivedMs ?? 0;
    },
    get asOfMs() {
      const { leaderlessMs, followedMs } = live().state;
      return Math.max(known.answer?.about.receivedMs ?? 0, leaderlessMs ?? followedMs);
    },
    get nextToken() {
      return known.answer?.about.nextToken;
    },
    get total() {
      return known.answer?.about.total;
    },
  };
}
