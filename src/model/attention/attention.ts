import { Choice, FullList, FullMapOf, type Model, Nullable, Text, Type, Whole } from '../schema.ts';

/** The worst first. */
export const severities = ['critical', 'warning', 'notice'] as const;
export type Severity = (typeof severities)[number];

export const attentionKinds = [
  'allocation-failing',
  'certificate-ends',
  'deployment-failed',
  'deployment-unhealthy',
  'deployment-waits',
  'evaluation-blocked',
  'evaluation-failed',
  'job-short',
  'limit-near',
  'node-disconnected',
  'node-down',
  'node-draining',
  'node-full',
  'node-ineligible',
  'peering-behind',
  'peering-failing',
  'server-away',
  'server-behind',
  'service-critical',
  'snapshot-failing',
  'snapshot-late',
  'token-ends',
  'writes-closed',
] as const;
export type AttentionKind = (typeof attentionKinds)[number];

/** The nouns of addresses. `cluster` has no id. */
export const attentionNouns = [
  'allocation',
  'cluster',
  'configuration-entry',
  'deployment',
  'evaluation',
  'job',
  'node',
  'peering',
  'server',
  'service',
  'token',
  'variable',
] as const;

/** Source: docs/behaviour/attention.md. */
export const AttentionItemSchema = Type.Object({
  Kind: Choice(attentionKinds),
  Severity: Choice(severities),
  Noun: Choice(attentionNouns),
  /** The id, or the name where names are ids. */
  ID: Text(),
  Name: Text(),
  /** Empty for nouns without one. */
  Namespace: Text(),
  /** The job that it belongs to; empty: it belongs to none. */
  JobID: Text(),
  /** RFC 3339; null: it is not known. */
  Since: Nullable(Type.String()),
  Reason: Text(),
});
export type AttentionItem = Model<typeof AttentionItemSchema>;

export const AttentionSchema = Type.Object({
  /** The worst first, then the newest. */
  Items: FullList(AttentionItemSchema),
  /** The number of all items that the caller may see, listed or not. */
  Total: Whole(),
  BySeverity: FullMapOf(Type.Integer()),
  ByKind: FullMapOf(Type.Integer()),
});
export type Attention = Model<typeof AttentionSchema>;
