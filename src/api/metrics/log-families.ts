import { Diverged } from '../../state/errors.ts';
import type { LogHealth } from '../../state/log-health.ts';
import { type Family, family, single } from './family.ts';

/** Metrics of a log that several servers share. An unknown value has no sample. */
export function logFamilies(health: LogHealth): readonly Family[] {
  const { term, contactMs, leaseAgeMs, isUnconfirmed, isDiverged, fault, appends, store } = health;
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);
  const heads =
    fault instanceof Diverged ? [{ labels: { own: fault.own, log: fault.found }, value: 1 }] : [];
  return [
    single('roster_log_term', term),
    single('roster_log_contact_seconds', seconds(contactMs)),
    single('roster_log_lease_age_seconds', seconds(leaseAgeMs)),
    single('roster_log_unconfirmed', isUnconfirmed),
    single('roster_log_diverged', isDiverged),
    family('roster_log_diverged_heads', heads),
    single('roster_log_appends_total', appends.count),
    single('roster_log_append_seconds_total', appends.totalMs / 1000),
    single('roster_log_outcomes_unknown_total', appends.unknown),
    single('roster_etcd_db_bytes', store?.bytes),
    single('roster_etcd_db_in_use_bytes', store?.bytesInUse),
    single('roster_etcd_quota_bytes', store?.quotaBytes),
    single('roster_etcd_out_of_space', store?.isOutOfSpace),
    single('roster_etcd_full', store?.isFull),
  ];
}
