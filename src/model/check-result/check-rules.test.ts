import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CheckStatus } from './check-result.ts';
import {
  type CheckOutcome,
  counted,
  failuresAfter,
  initialCounts,
  satisfies,
  statusOfAll,
  type Thresholds,
} from './check-rules.ts';

const outcome = fc.constantFrom<CheckOutcome>('passing', 'warning', 'critical');
const thresholds = fc.record<Thresholds>({
  SuccessBeforePassing: fc.nat(3),
  FailuresBeforeCritical: fc.nat(3),
  FailuresBeforeWarning: fc.nat(3),
});
const initial = fc.constantFrom('', 'passing', 'warning', 'critical') as fc.Arbitrary<
  '' | 'passing' | 'warning' | 'critical'
>;

const statusAfterAll = (
  InitialStatus: '' | 'passing' | 'warning' | 'critical',
  history: readonly CheckOutcome[],
  wanted: Thresholds,
): CheckStatus =>
  history.reduce((counts, one) => counted(counts, one, wanted), initialCounts({ InitialStatus }))
    .status;

/** The length of the run of these kinds at the end of the history. */
const run = (history: readonly CheckOutcome[], ...kinds: CheckOutcome[]): number => {
  const at = history.findLastIndex((one) => !kinds.includes(one));
  return history.length - 1 - at;
};

/** Applies the published rule to the whole history, again after each result. */
function oracle(
  InitialStatus: '' | 'passing' | 'warning' | 'critical',
  history: readonly CheckOutcome[],
  { SuccessBeforePassing, FailuresBeforeCritical, FailuresBeforeWarning }: Thresholds,
): CheckStatus {
  let status: CheckStatus = InitialStatus === '' ? 'pending' : InitialStatus;
  for (let end = 1; end <= history.length; end++) {
    const seen = history.slice(0, end);
    const last = seen.at(-1)!;
    const unwell = run(seen, 'warning', 'critical');
    if (last === 'passing') {
      if (run(seen, 'passing') >= SuccessBeforePassing) status = 'passing';
    } else if (last === 'critical' && run(seen, 'critical') >= FailuresBeforeCritical) {
      status = 'critical';
    } else if (last === 'critical') {
      const before = FailuresBeforeWarning > 0 ? FailuresBeforeWarning : FailuresBeforeCritical;
      if (unwell >= before && status !== 'critical') status = 'warning';
    } else if (unwell >= FailuresBeforeWarning) status = 'warning';
  }
  return status;
}

test('the status is that of the rule applied to the whole history', () => {
  fc.assert(
    fc.property(
      initial,
      fc.array(outcome, { maxLength: 12 }),
      thresholds,
      (begin, history, wanted) => {
        expect(statusAfterAll(begin, history, wanted)).toBe(oracle(begin, history, wanted));
      },
    ),
  );
});

test.each<[string, CheckOutcome[], Partial<Thresholds>, CheckStatus]>([
  ['no result yet', [], {}, 'pending'],
  ['without thresholds the last result counts', ['critical', 'passing'], {}, 'passing'],
  ['one success where two are required', ['passing'], { SuccessBeforePassing: 2 }, 'pending'],
  [
    'two successes in a row where two are required',
    ['passing', 'critical', 'passing'],
    { SuccessBeforePassing: 2 },
    'critical',
  ],
  [
    'fails twice of three',
    ['passing', 'critical', 'critical'],
    { FailuresBeforeCritical: 3 },
    'passing',
  ],
  [
    'is a warning before it is critical',
    ['passing', 'critical', 'critical'],
    { FailuresBeforeCritical: 3, FailuresBeforeWarning: 2 },
    'warning',
  ],
])('%s', (_name, history, wanted, status) => {
  const none = { SuccessBeforePassing: 0, FailuresBeforeCritical: 0, FailuresBeforeWarning: 0 };
  expect(statusAfterAll('', history, { ...none, ...wanted })).toBe(status);
});

test('restarts count unhealthy results in a row', () => {
  const after = (statuses: CheckStatus[], IgnoreWarnings: boolean) =>
    statuses.reduce((count, status) => failuresAfter(count, status, { IgnoreWarnings }), 0);
  expect(after(['critical', 'warning', 'critical'], false)).toBe(3);
  expect(after(['critical', 'warning', 'critical'], true)).toBe(1);
  expect(after(['critical', 'passing', 'critical'], false)).toBe(1);
  expect(after(['critical', 'pending', 'critical'], false)).toBe(2);
});

test.each([
  ['require_healthy', ['passing']],
  ['ignore_warnings', ['passing', 'warning']],
  ['ignore', ['pending', 'passing', 'warning', 'critical']],
] as const)('OnUpdate %s is content with %j', (OnUpdate, content) => {
  const all: CheckStatus[] = ['pending', 'passing', 'warning', 'critical'];
  expect(all.filter((status) => satisfies(status, { OnUpdate }))).toEqual(content);
});

test('an instance has the worst status of its checks', () => {
  expect(statusOfAll([])).toBe('unchecked');
  expect(statusOfAll(['passing', 'pending'])).toBe('pending');
  expect(statusOfAll(['warning', 'pending'])).toBe('warning');
  expect(statusOfAll(['passing', 'critical', 'warning'])).toBe('critical');
});
