/** An act that is planned, as a caller asked for it. It is plain JSON, as it is sealed with its plan. */
import type { DrainSpec } from '../node/drain.ts';
import type { Eligibility } from '../node/node.ts';

interface OfJob {
  readonly Namespace: string;
  readonly JobID: string;
  readonly PolicyOverride: boolean;
}

export interface ScaleAct extends OfJob {
  readonly Kind: 'scale';
  readonly Group: string;
  readonly Count: number;
  readonly Message: string;
}

export interface RevertAct extends OfJob {
  readonly Kind: 'revert';
  readonly JobVersion: number;
}

export interface DrainAct {
  readonly Kind: 'drain';
  readonly NodeID: string;
  /** Null cancels the drain that is under way. */
  readonly DrainSpec: DrainSpec | null;
  readonly MarkEligible: boolean;
  readonly Meta: Readonly<Record<string, string>> | null;
}

export interface EligibilityAct {
  readonly Kind: 'eligibility';
  readonly NodeID: string;
  readonly Eligibility: Eligibility;
}

export interface EntryAct {
  readonly Kind: 'configuration-entry';
  readonly Partition: string;
  readonly Namespace: string;
  /** The entry as it was sent; null: the entry named by `Delete` is deleted. */
  readonly Entry: unknown;
  readonly Delete: { readonly Kind: string; readonly Name: string } | null;
}

/** Every act but the registration of a job, which is planned and kept in a form of its own. */
export type Act = ScaleAct | RevertAct | DrainAct | EligibilityAct | EntryAct;

export type ActOfJob = ScaleAct | RevertAct;
