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

describe('what follows the end of a task', () => {
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

test('no policy in mode fail allows more restarts than its attempts within one interval', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 40 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 4 }), (gapsMs, attempts) => {
      let tracker = at(0);
      let nowMs = 0;
      const restarts: number[] = [];
      for (const gapMs of gapsMs) {
        nowMs += gapMs;
        const decision = decide({ policy: { Attempts: attempts }, tracker, nowMs });
        if (decision.kind !== 'restart') break;
        tracker = decision.tracker;
        restarts.push(nowMs);
        const inWindow = restarts.filter((time) => time >= tracker.windowStartMs);
        expect(inWindow.length).toBeLessThanOrEqual(attempts);
      }
    }),
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
