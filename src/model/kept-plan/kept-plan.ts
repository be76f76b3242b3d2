/**
 * A plan that can be carried out, and after that the note of who did so.
 * Source: docs/behaviour/jobs.md#plans.
 */
export interface KeptPlan {
  readonly ID: string;
  readonly Namespace: string;
  readonly JobID: string;
  /** The caller that asked for it, as `accessorOf` names callers. */
  readonly MadeBy: string;
  /** The job and all that was planned for it, sealed, since a job may hold secrets; empty once carried out. */
  readonly Sealed: string;
  /** Whether the outline in `Sealed` is packed (`packOutline`); servers before version 0.1.4 read no such plan. */
  readonly Packed: boolean;
  /** The caller that carried it out; empty before. */
  readonly CarriedOutBy: string;
  /** The index of the transaction that carried it out; 0 before. */
  readonly CarriedOutIndex: number;
  /** Unix milliseconds. */
  readonly ExpireMs: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}
