import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RestartPolicy } from '../../model/task-group/policies.ts';
import {
  decideRestart,
  type RestartCause,
  type RestartTracker,
  restartsOnSuccess,
} from './restart-policy.ts';

const policy = (fields: Partial<RestartPolicy> = {}): RestartPolicy => ({
  Attempts: 2,
  Interval: 60e9,
  Delay: 10e9,
  Mode: 'fail',
  RenderTemplates: false,
  ...fields,
});

const failure: RestartCause = { kind: 'exit', successful: false };
const success: RestartCause = { kind: 'exit', successful: true };
const at = (count: number, windowStartMs = 0): RestartTracker => ({ count, windowStartMs });

interface Case {
  readonly policy?: Partial<RestartPolicy>;
  readonly tracker?: RestartTracker;
  readonly cause?: RestartCause;
  readonly onSuccess?: boolean;
  readonly nowMs?: number;
  readonly jitter?: number;
}

const decide = (given: Case) =>
  decideRestart({
    policy: policy(given.policy),
    tracker: given.tracker ?? at(0),
    cause: given.cause ?? failure,
    restartsOnSuccess: given.onSuccess ?? true,
    nowMs: given.nowMs ?? 1000,
    jitter: given.jitter ?? 0,
  });

describe('after the end of a task', () => {
  const within = 'Restart within policy';
  const spent = 'Exceeded allowed attempts 2 in interval 1m0s and mode is "fail"';
  const noDelay = 'Exceeded allowed attempts, applying a delay';
  test.each<[string, Case, object]>([
    ['work that is done', { cause: success, onSuccess: false }, { kind: 'complete' }],
    [
      'done, no attempts',
      { cause: success, onSuccess: false, policy: { Attempts: 0 } },
      { kind: 'complete' },
    ],
    [
      'an unrecoverable start',
      { cause: { kind: 'start-failure', recoverable: false } },
      { kind: 'fail', reason: 'Error was unrecoverable' },
    ],
    [
      'no attempts',
      { policy: { Attempts: 0 } },
      { kind: 'fail', reason: 'Policy allows no restarts' },
    ],
    [
      'no attempts, a service that ended well',
      { policy: { Attempts: 0 }, cause: success },
      { kind: 'fail', reason: 'Policy allows no restarts' },
    ],
    ['first failure', {}, { kind: 'restart', reason: within, delayMs: 10_000, tracker: at(1) }],
    ['a service that ended well', { cause: success }, { kind: 'restart', tracker: at(1) }],
    [
      'a recoverable start',
      { cause: { kind: 'start-failure', recoverable: true } },
      { kind: 'restart', tracker: at(1) },
    ],
    ['the last attempt', { tracker: at(1) }, { kind: 'restart', tracker: at(2) }],
    ['one too many', { tracker: at(2) }, { kind: 'fail', reason: spent }],
    ['at the end of the window', { tracker: at(2), nowMs: 60_000 }, { kind: 'fail' }],
    [
      'after the window',
      { tracker: at(2), nowMs: 60_001 },
      { kind: 'restart', reason: within, tracker: at(1, 60_001) },
    ],
    [
      'one too many, mode delay',
      { tracker: at(2), policy: { Mode: 'delay' }, nowMs: 20_000 },
      { kind: 'restart', reason: noDelay, delayMs: 40_000, tracker: at(3) },
    ],
    ['the greatest jitter', { jitter: 0.9999999 }, { kind: 'restart', delayMs: 12_500 }],
  ])('%s', (_name, given, expected) => {
    expect(decide(given)).toMatchObject(expected);
  });
});

/**
 * The policy of docs/behaviour/client.md#restarts, computed from the whole history each time: a
 * window begins at the first start, or at the first end after the last window, and a number of ends
 * in it are followed by a restart.
 */
function oracle(
  given: RestartPolicy,
  endsMs: readonly number[],
  cause: RestartCause,
  runsOn: boolean,
) {
  if (cause.kind === 'exit' && cause.successful && !runsOn) return 'complete';
  if (cause.kind === 'start-failure' && !cause.recoverable) return 'fail';
  if (given.Attempts === 0) return 'fail';
  const intervalMs = given.Interval / 1e6;
  let windows = [{ beginsMs: 0, ends: 0 }];
  for (const endMs of endsMs) {
    const last = windows.at(-1)!;
    if (endMs - last.beginsMs > intervalMs) windows = [...windows, { beginsMs: endMs, ends: 1 }];
    else windows = [...windows.slice(0, -1), { ...last, ends: last.ends + 1 }];
  }
  const { beginsMs, ends } = windows.at(-1)!;
  if (ends <= given.Attempts) return given.Delay / 1e6;
  return given.Mode === 'fail' ? 'fail' : beginsMs + intervalMs - endsMs.at(-1)!;
}

test('the policy agrees with its definition, whatever happens to a task', () => {
  const cause = fc.oneof(
    fc.record({ kind: fc.constant('exit' as const), successful: fc.boolean() }),
    fc.record({ kind: fc.constant('start-failure' as const), recoverable: fc.boolean() }),
  );
  const given = fc.record({
    Attempts: fc.integer({ min: 0, max: 4 }),
    Interval: fc.integer({ min: 5, max: 60 }).map((seconds) => seconds * 1e9),
    Delay: fc.integer({ min: 0, max: 10 }).map((seconds) => seconds * 1e9),
    Mode: fc.constantFrom<'fail' | 'delay'>('fail', 'delay'),
    // Texts are not compared.
    RenderTemplates: fc.boolean(),
  });
  const runs = fc.array(fc.record({ forMs: fc.integer({ min: 0, max: 30_000 }), cause }), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(
      given,
      runs,
      fc.boolean(),
      fc.double({ min: 0, max: 0.99, noNaN: true }),
      (...all) => {
        const [Policy, history, runsOn, jitter] = all;
        let tracker = at(0);
        let nowMs = 0;
        const endsMs: number[] = [];
        for (const { forMs, cause: why } of history) {
          nowMs += forMs;
          endsMs.push(nowMs);
          const expected = oracle(Policy, endsMs, why, runsOn);
          const decision = decide({
            policy: Policy,
            tracker,
            nowMs,
            cause: why,
            onSuccess: runsOn,
            jitter,
          });
          if (typeof expected === 'string') {
            expect(decision.kind).toBe(expected);
            return;
          }
          if (decision.kind !== 'restart') throw new Error(`${decision.kind} and not ${expected}`);
          const isWithin = decision.reason === 'Restart within policy';
          expect(decision.delayMs).toBeGreaterThanOrEqual(Math.floor(expected));
          expect(decision.delayMs).toBeLessThanOrEqual(Math.ceil(expected * (isWithin ? 1.25 : 1)));
          ({ tracker } = decision);
          nowMs += decision.delayMs;
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test.each([
  ['service', null, true],
  ['system', null, true],
  ['batch', null, false],
  ['sysbatch', null, false],
  ['batch', { Hook: 'prestart', Sidecar: true }, true],
  ['service', { Hook: 'prestart', Sidecar: false }, false],
  ['service', { Hook: 'poststart', Sidecar: true }, true],
  ['service', { Hook: 'poststop', Sidecar: true }, false],
] as const)('a %s task with lifecycle %j restarts on success: %s', (Type, Lifecycle, expected) => {
  expect(restartsOnSuccess({ Type }, { Lifecycle })).toBe(expected);
});
