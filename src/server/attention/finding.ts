import type { AttentionItem } from '../../model/attention/attention.ts';
import { limits } from '../../model/limits.ts';
import {
  namedAccess,
  namespaceCapability,
  type Permission,
  resourceAccess,
} from '../../model/permission/permission.ts';

/** Something that needs attention, with the permission to see it. */
export interface Finding extends Omit<AttentionItem, 'Since'> {
  /** Unix milliseconds; 0: it is not known. */
  readonly sinceMs: number;
  /** It holds from this time, and before that one, in Unix milliseconds. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly permission: Permission;
}

export type Told = Pick<Finding, 'Kind' | 'Severity' | 'Reason' | 'sinceMs'> &
  Partial<Pick<Finding, 'fromMs' | 'untilMs'>>;

const cut = (reason: string): string => {
  const most = limits.attention.reasonLengthMax;
  return reason.length > most ? `${reason.slice(0, most - 1)}…` : reason;
};

/** Of a job, or of something that belongs to it. */
export const ofJob = (
  { Namespace, JobID }: { readonly Namespace: string; readonly JobID: string },
  noun: Pick<Finding, 'Noun' | 'ID' | 'Name'>,
  told: Told,
): Finding => ({
  ...noun,
  Namespace,
  JobID,
  ...told,
  Reason: cut(told.Reason),
  permission: namespaceCapability(Namespace, 'read-job'),
});

export const ofNode = (
  { ID, Name }: { readonly ID: string; readonly Name: string },
  told: Told,
): Finding => ({
  Noun: 'node',
  ID,
  Name,
  Namespace: '',
  JobID: '',
  ...told,
  Reason: cut(told.Reason),
  permission: namedAccess('node', 'read', Name),
});

export const ofCluster = (told: Told): Finding => ({
  Noun: 'cluster',
  ID: '',
  Name: '',
  Namespace: '',
  JobID: '',
  ...told,
  Reason: cut(told.Reason),
  permission: resourceAccess('operator', 'read'),
});
