import type { Answer, CallOptions, ReadOptions, Requester } from './requester.ts';

/** Why a token has a permission, or lacks it. */
export interface AclExplanation {
  /** Empty when no token was shown. */
  readonly AccessorID: string;
  readonly Permission: string;
  readonly Allowed: boolean;
  readonly Reason: string;
  readonly Rules: readonly {
    readonly Policy: { readonly ID: string; readonly Name: string };
    readonly Via: readonly string[];
    readonly Effect: 'allow' | 'deny' | 'too-little';
    readonly Text: string;
    readonly Line: number;
    readonly Column: number;
  }[];
  /** A rule that would allow it. */
  readonly Missing: string;
}

/** Source: docs/behaviour/access-control.md#asking-what-a-token-may-do. */
export interface AclQuestion {
  readonly Resource: string;
  readonly Segment?: string;
  readonly Access: string;
  readonly Namespace?: string;
  readonly Partition?: string;
}

export interface ExplainOptions extends ReadOptions {
  /** The one thing that it is about. */
  readonly name?: string | undefined;
  /** Of another token; the default is the one that asks. */
  readonly accessor?: string | undefined;
}

export interface AclDecisions {
  /** `permission`: `service:write`, `namespace:submit-job`, `management` … */
  explain(permission: string, options?: ExplainOptions): Promise<Answer<AclExplanation>>;
  /** At most 64 questions about the token that asks. */
  authorize(
    questions: readonly AclQuestion[],
    options?: CallOptions,
  ): Promise<Answer<readonly (AclQuestion & { readonly Allow: boolean })[]>>;
}

export const aclDecisionsOf = (requester: Requester): AclDecisions => ({
  explain: (permission, options = {}) =>
    requester.read('/v1/acl/explain', options, {
      permission,
      name: options.name,
      accessor: options.accessor,
    }),
  authorize: (questions, options) =>
    requester.write('POST', '/v1/internal/acl/authorize', options, questions),
});
