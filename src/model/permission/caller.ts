/**
 * The caller, as far as the secret of the request tells. The secret itself is not kept: messages and logs
 * name the accessor.
 */
export type Caller =
  | { readonly kind: 'anonymous'; readonly accessor: string }
  | {
      readonly kind: 'token';
      readonly accessor: string;
      readonly management: boolean;
      /** The namespace of the token, for requests that name no other. */
      readonly namespace: string;
      readonly partition: string;
    }
  | { readonly kind: 'node'; readonly nodeId: string }
  /** A task of a running allocation, which shows a token that the servers signed. */
  | {
      readonly kind: 'workload';
      readonly namespace: string;
      /** For a child, the job that it was made from. */
      readonly job: string;
      readonly group: string;
      readonly task: string;
      readonly allocation: string;
    }
  /** A caller with an introduction token, which admits new nodes. */
  | { readonly kind: 'introduction'; readonly id: string }
  /** Access control is switched off (`acl { enabled = false }`). */
  | { readonly kind: 'unrestricted' };

/** The words for the caller in a refusal, without any secret. */
export function describeCaller(caller: Caller): string {
  switch (caller.kind) {
    case 'anonymous':
      return 'the anonymous token, which is used when a request gives no token,';
    case 'token':
      return `token with AccessorID "${caller.accessor}"`;
    case 'node':
      return `node "${caller.nodeId}"`;
    case 'workload':
      return `the task "${caller.task}" of allocation "${caller.allocation}"`;
    case 'introduction':
      return `the introduction token "${caller.id}"`;
    case 'unrestricted':
      return 'the caller';
  }
}
