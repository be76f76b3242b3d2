import type { attentionEndpoints } from '../contract/attention.ts';
import type {
  Attention,
  AttentionItem,
  AttentionKind,
  Severity,
} from '../model/attention/attention.ts';
import type { Overview } from '../model/overview/overview.ts';
import { callsOf } from './calls.ts';
import type { ReadOptions, Requester } from './requester.ts';

export type { Attention, AttentionItem, AttentionKind, Overview, Severity };

export interface AttentionOptions extends ReadOptions {
  readonly severity?: Severity | undefined;
  readonly kind?: AttentionKind | undefined;
  /** The id of a job. */
  readonly job?: string | undefined;
  /** The greatest number of items; the counts are of all. */
  readonly limit?: number | undefined;
}

export type AttentionCalls = ReturnType<typeof attentionOf>;

export function attentionOf(requester: Requester) {
  const { read } = callsOf<typeof attentionEndpoints>(requester);
  return {
    /** Everything that needs attention, the worst first. */
    read: ({ severity, kind, job, limit, ...options }: AttentionOptions = {}) =>
      read('GET /v1/attention', {}, options, { severity, kind, job, limit }),
    /** Counts of jobs, allocations and nodes by their status, and what the nodes offer. */
    overview: (options: ReadOptions = {}) => read('GET /v1/overview', {}, options),
  };
}
