import type { aclDecisionEndpoints } from '../contract/acl-decision.ts';
import type { AnswerOf } from '../contract/endpoint.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** Why a token has a permission or lacks it. */
export type AclExplanation = AnswerOf<(typeof aclDecisionEndpoints)['explain']>;

/** Source: docs/behaviour/access-control.md#asking-what-a-token-may-do. */
export interface AclQuestion {
  readonly Resource: string;
  readonly Segment?: string;
  readonly Access: string;
  readonly Namespace?: string;
  readonly Partition?: string;
}

export interface PolicyTrial {
  readonly Rules: string;
  /** A token that has the policy in the trial, besides its own policies. */
  readonly AccessorID?: string;
  /** A stored policy whose rules are replaced in the trial. */
  readonly PolicyID?: string;
  readonly Questions: readonly {
    readonly Permission: string;
    readonly Name?: string;
    readonly Namespace?: string;
    readonly Partition?: string;
  }[];
}

export interface ExplainOptions extends ReadOptions {
  /** The name in question, such as that of a service. */
  readonly name?: string | undefined;
  /** The accessor of another token; by default the client's own token is asked about. */
  readonly accessor?: string | undefined;
}

export type AclDecisions = ReturnType<typeof aclDecisionsOf>;

export function aclDecisionsOf(requester: Requester) {
  const { read, write } = callsOf<typeof aclDecisionEndpoints>(requester);
  return {
    /** `permission`: `service:write`, `namespace:submit-job`, `management` … */
    explain: (permission: string, options: ExplainOptions = {}) =>
      read('GET /v1/acl/explain', {}, options, {
        permission,
        name: options.name,
        accessor: options.accessor,
      }),
    /** Tries rules before they are stored, for a token with these rules alone or beside its own. */
    tryPolicy: (trial: PolicyTrial, options?: CallOptions) =>
      write('POST /v1/acl/policy/try', {}, options, { body: trial }),
    /** Requests that the server has refused, the newest first: own ones, and those that the token may see. */
    denials: ({
      accessor,
      serverId,
      ...options
    }: ListOptions & {
      readonly accessor?: string | undefined;
      /** The server that is asked: its id, its address, or `leader`. */
      readonly serverId?: string | undefined;
    } = {}) =>
      read('GET /v1/acl/denials', {}, options, {
        ...listQuery(options),
        accessor: accessor || undefined,
        server_id: serverId || undefined,
      }),
    /** At most 64 questions about the client's own token. */
    authorize: (questions: readonly AclQuestion[], options?: CallOptions) =>
      write('POST /v1/internal/acl/authorize', {}, options, { body: questions }),
  };
}
