import { describe, expect, test } from 'vitest';
import { limits } from '../model/limits.ts';
import { Diverged } from '../state/errors.ts';
import type { LogHealth } from '../state/log-health.ts';
import { logHealthOf } from './log-health.ts';
import { written } from './metrics/exposition.ts';
import { logFamilies } from './metrics/log-families.ts';

const store = {
  member: 'm1:2379',
  version: '3.6.1',
  bytes: 200,
  bytesInUse: 100,
  quotaBytes: 1000,
  isOutOfSpace: false,
  isFull: false,
};
const healthy: LogHealth = {
  term: 7,
  contactMs: 20,
  ageMs: 20,
  leaseAgeMs: 1500,
  isUnconfirmed: false,
  isHeldBack: false,
  fault: undefined,
  obstacle: undefined,
  isDiverged: false,
  appends: { count: 3, totalMs: 12, unknown: 1 },
  store,
};

describe('the health of the log', () => {
  test.each<[Partial<LogHealth>, boolean, string]>([
    [{}, true, 'ok'],
    [{ store: undefined }, true, 'ok; what the store says is unknown'],
    [{ contactMs: undefined }, false, 'the log has not answered yet'],
    [
      { contactMs: 61_000, isUnconfirmed: true },
      false,
      'the log has not answered since this server started: it shows its copy of the state, as of 1m1s ago',
    ],
    [{ contactMs: limits.servers.logSilentMs + 5000 }, false, 'the log has not answered for 20s'],
    [
      { contactMs: 61_000, obstacle: new Error('etcd: permission denied') },
      false,
      'the log has not answered for 1m1s: etcd: permission denied',
    ],
    [{ fault: new Error('it has diverged') }, false, 'it has diverged'],
    [
      { store: { ...store, isOutOfSpace: true } },
      false,
      'the store of the log takes no writes: it has reached its quota; m1:2379 is the fullest',
    ],
    [
      { store: { ...store, isFull: true } },
      false,
      'the store of the log is nearly full at m1:2379: new jobs are refused',
    ],
  ])('with %j is %s: %s', (change, ok, message) => {
    expect(logHealthOf({ ...healthy, ...change })).toMatchObject({ ok, message });
  });

  test('names its figures', () => {
    expect(logHealthOf(healthy)).toMatchObject({
      Term: 7,
      LastContactMs: 20,
      LeaseAgeMs: 1500,
      Store: { Version: '3.6.1', Bytes: 200, BytesInUse: 100, QuotaBytes: 1000, Full: false },
    });
  });
});

describe('the metrics of the log', () => {
  const samples = (health: LogHealth) => {
    const lines = written(logFamilies(health), 'prometheus').split('\n');
    const found = lines.filter((line) => /^roster_(log|etcd)_/.test(line));
    return Object.fromEntries(found.map((line) => line.split(' ')));
  };

  test('have a sample each', () => {
    expect(samples({ ...healthy, isDiverged: true, isUnconfirmed: true })).toEqual({
      roster_log_term: '7',
      roster_log_contact_seconds: '0.02',
      roster_log_lease_age_seconds: '1.5',
      roster_log_unconfirmed: '1',
      roster_log_diverged: '1',
      roster_log_appends_total: '3',
      roster_log_append_seconds_total: '0.012',
      roster_log_outcomes_unknown_total: '1',
      roster_etcd_db_bytes: '200',
      roster_etcd_db_in_use_bytes: '100',
      roster_etcd_quota_bytes: '1000',
      roster_etcd_out_of_space: '0',
      roster_etcd_full: '0',
    });
  });

  test('name both ends of a log that has diverged', () => {
    const fault = new Diverged('index 9 of the cluster a', 'has index 3 of the cluster b');
    const text = written(logFamilies({ ...healthy, isDiverged: true, fault }), 'prometheus');
    expect(text).toContain(
      'roster_log_diverged_heads{own="index 9 of the cluster a",log="has index 3 of the cluster b"} 1',
    );
    expect(written(logFamilies(healthy), 'prometheus')).not.toContain('diverged_heads{');
  });

  test('have no sample where something is unknown', () => {
    const found = samples({ ...healthy, store: undefined, leaseAgeMs: undefined });
    expect(Object.keys(found).filter((name) => /etcd|lease/.test(name))).toEqual([]);
    expect(found).toMatchObject({ roster_log_appends_total: '3' });
  });
});
