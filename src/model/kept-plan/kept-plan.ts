/** The acts that can be planned. */
export const planKinds = [
  'job',
  'scale',
  'revert',
  'drain',
  'eligibility',
  'configuration-entry',
] as const;
export type PlanKind = (typeof planKinds)[number];

/**
 * A plan that can be carried out, and after that the note of who did so.
 * Source: docs/behaviour/jobs.md#plans.
 */
export interface KeptPlan {
  readonly ID: string;
  readonly Kind: PlanKind;
  readonly Partition: string;
  /** Of a node: `default`. */
  readonly Namespace: string;
  /** `''` for plans that are about no job. */
  readonly JobID: string;
  /** The id of a node, or the kind of a configuration entry; `''` for jobs. */
  readonly Subject: string;
  /** The name of the node or of the configuration entry; `''` for jobs. */
  readonly Name: string;
  /** The caller that asked for it, as `accessorOf` names callers. */
  readonly MadeBy: string;
  /**
   * The act and all that was planned for it, sealed, since a job or an entry may hold secrets. It is empty once the
   * registration of a job was carried out.
   */
  readonly Sealed: string;
  /**
   * Whether the content is that of the registration of a job with its outline packed (`packOutline`); servers before
   * version 0.1.4 read no such plan.
   */
  readonly Packed: boolean;
  /** The caller that carried it out; empty before. */
  readonly CarriedOutBy: string;
  /** The index of the transaction that carried it out; 0 before. */
  readonly CarriedOutIndex: number;
  /** The index of the transaction that noted that it was refused as outdated; 0: it was not. */
  readonly OutdatedIndex: number;
  /** Unix milliseconds. */
  readonly ExpireMs: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** What every plan of the registration of a job has in common. */
export const ofRegistration = {
  Kind: 'job',
  Partition: 'default',
  Subject: '',
  Name: '',
} as const;

/** The fields that tell what a plan is about. */
export type PlanSubject = Pick<
  KeptPlan,
  'Kind' | 'Partition' | 'Namespace' | 'JobID' | 'Subject' | 'Name'
>;
