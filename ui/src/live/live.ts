import type { Problem } from '../../../src/model/errors.ts';
import type { BrowserClient } from '../../../src/sdk/browser.ts';
import type { Submission } from './submission.ts';

export interface LiveState {
  readonly kind: 'connecting' | 'open' | 'away' | 'refused';
  readonly sinceMs: number;
  readonly lastHeardMs: number;
  /** Until when the watches were followed: a tab that nobody sees is heard of, and follows nothing. */
  readonly followedMs: number;
  readonly index: number;
  /** Since when the server knows no leader; `undefined`: it knows it, or the page is not told. */
  readonly leaderlessMs?: number | undefined;
  readonly problem?: Problem | undefined;
}

export interface WatchAbout {
  readonly index: number;
  readonly nextToken?: string | undefined;
  readonly total?: number | undefined;
  readonly stale: boolean;
  readonly receivedMs: number;
}

export interface WatchListener<T> {
  value(value: T, about: WatchAbout): void;
  refused(problem: Problem): void;
}

export interface Live {
  readonly client: BrowserClient;
  /** Runs the calls of a form, which its reader may cancel. */
  submit(run: (client: BrowserClient) => Promise<unknown>): Submission;
  /** Follows a read of the API. `onValue` hears the value now and after each change; returns the end. */
  watch<T>(path: string, listener: WatchListener<T>): () => void;
  readonly state: LiveState;
}
