import { describe, expect, test } from 'vitest';
import { instantFromMs } from '../base/instant.ts';
import { type Allocation, AllocationSchema } from '../model/allocation/allocation.ts';
import { complete } from '../model/complete.ts';
import type { ReschedulePolicy } from '../model/task-group/policies.ts';
import { startMs } from './cluster.test-helper.ts';
import {
  decideReschedule,
  failedAtMs,
  isTriedAgain,
  nextDelayNs,
  nodesOfFailures,
  trackerOfReplacement,
} from './reschedule.ts';
import { descriptions } from './view.ts';

const seconds = (count: number): number => count * 1e9;

const policy = (fields: Partial<ReschedulePolicy>): ReschedulePolicy => ({
  Attempts: 0,
  Interval: 0,
  Delay: seconds(30),
  DelayFunction: 'exponential',
  MaxDelay: seconds(3600),
  Unlimited: true,
  ...fields,
});

/**
 * An allocation that failed `agoS` before the start, after events with these delays, a second
 * apart.
 */
function failed(
  delaysS: readonly number[],
  fields: Partial<Allocation> = {},
  agoS = 0,
): Allocation {
  const failedMs = startMs - agoS * 1000;
  const Events = delaysS.map((delay, position) => ({
    RescheduleTime: instantFromMs(failedMs - (delaysS.length - position) * 1000),
    PrevAllocID: `a${position}`,
    PrevNodeID: `n${position}`,
    Delay: seconds(delay),
  }));
  return {
    ...(complete(AllocationSchema, { ID: 'a', NodeID: 'n' }) as Allocation),
    ClientStatus: 'failed',
    ModifyTime: instantFromMs(failedMs),
    RescheduleTracker: delaysS.length === 0 ? null : { Events, LastReschedule: 'ok' },
    ...fields,
  };
}

describe('delays', () => {
  test.each<[string, readonly number[], number]>([
    ['constant', [], 30],
    ['constant', [30, 30], 30],
    ['exponential', [], 30],
    ['exponential', [30], 60],
    ['exponential', [30, 60], 120],
    ['exponential', [2000], 3600],
    ['exponential', [3600], 3600],
    ['exponential', [0], 30],
    ['exponential', [30, 60, 0], 30],
    ['exponential', [0, 30], 60],
    ['fibonacci', [], 30],
    ['fibonacci', [0], 30],
    ['fibonacci', [0, 0], 30],
    ['fibonacci', [30], 30],
    ['fibonacci', [30, 30], 60],
    ['fibonacci', [30, 30, 60], 90],
    ['fibonacci', [2000, 3000], 3600],
    ['fibonacci', [3600, 30], 30],
    ['fibonacci', [30, 3600, 30, 30], 60],
  ])('%s after %j: %s s', (DelayFunction, delays, expected) => {
    expect(nextDelayNs(failed(delays), policy({ DelayFunction }))).toBe(seconds(expected));
  });

  test('starts over once capped, if the last allocation ran longer than the cap', () => {
    const last = failed([3600]);
    const ran = (ranS: number): Allocation => ({
      ...last,
      ModifyTime: last.RescheduleTracker!.Events![0]!.RescheduleTime + seconds(ranS),
    });
    expect(nextDelayNs(ran(3600), policy({}))).toBe(seconds(3600));
    expect(nextDelayNs(ran(3601), policy({}))).toBe(seconds(30));
  });
});

describe('decisions, in the order of the checks', () => {
  const limited = {
    Unlimited: false,
    Attempts: 2,
    Interval: seconds(60),
    DelayFunction: 'constant',
  };
  const forced = {
    DesiredTransition: {
      Migrate: null,
      Reschedule: null,
      ForceReschedule: true,
      NoShutdownDelay: null,
      MigrateDisablePlacement: null,
    },
  };
  const look = { evaluationId: 'e', nowMs: startMs, isOver: (id: string) => id === 'over' };
  const away = { DesiredDescription: descriptions.unknown };
  const later = { when: 'later', dueMs: startMs + 30_000 };
  test.each<[string, Allocation, ReschedulePolicy | null, object]>([
    ['forced, without a policy', failed([], forced), null, { when: 'now', delayNs: 0 }],
    [
      'forced, with a policy that is off',
      failed([30], forced),
      policy({ Unlimited: false }),
      { when: 'now', delayNs: 0 },
    ],
    ['forced', failed([30], forced), policy({}), { when: 'now', delayNs: seconds(60) }],
    ['no policy', failed([]), null, { when: 'never' }],
    ['disabled', failed([]), policy({ Unlimited: false }), { when: 'never' }],
    ['no attempts left', failed([30, 30]), policy(limited), { when: 'never' }],
    ['attempts left', failed([30]), policy(limited), later],
    ['not due', failed([]), policy({}), later],
    ['due', failed([], {}, 30), policy({}), { when: 'now', delayNs: seconds(30) }],
    ['due within a second', failed([], {}, 29), policy({}), { when: 'now', delayNs: seconds(30) }],
    [
      'not within a second',
      failed([], {}, 28),
      policy({}),
      { when: 'later', dueMs: startMs + 2000 },
    ],
    [
      'another evaluation waits for it',
      failed([], { FollowupEvalID: 'x' }),
      policy({}),
      { when: 'awaited' },
    ],
    [
      'another evaluation waited for it, and has ended',
      failed([], { FollowupEvalID: 'over' }),
      policy({}),
      later,
    ],
    ['its node was away', failed([], { ...away, FollowupEvalID: 'x' }), policy({}), later],
    [
      'its node was away until now',
      failed([], { ...away, FollowupEvalID: 'e' }),
      policy({}),
      later,
    ],
    [
      'this evaluation waited for it',
      failed([], { FollowupEvalID: 'e' }),
      policy({}),
      { when: 'now', delayNs: seconds(30) },
    ],
  ])('%s', (_, allocation, rules, expected) => {
    expect(isTriedAgain(allocation, rules)).toBe(
      !('when' in expected && expected.when === 'never'),
    );
    expect(decideReschedule(allocation, rules, look)).toEqual(expected);
  });

  test('attempts before the interval do not count', () => {
    const old = failed([30, 30], { ModifyTime: instantFromMs(startMs + 59_500) });
    expect(decideReschedule(old, policy(limited), look).when).toBe('later');
  });
});

test('failure is when the last task ended, else the last change', () => {
  const state = {
    State: 'dead',
    Failed: true,
    Restarts: 0,
    LastRestart: null,
    StartedAt: null,
  } as const;
  const ended = (FinishedAt: string | null) => ({ ...state, FinishedAt, Paused: '', Events: null });
  const tasks = {
    a: ended('2026-01-01T00:00:05Z'),
    b: ended('2026-01-01T00:00:07Z'),
    c: ended('0001-01-01T00:00:00Z'),
  };
  const ModifyTime = instantFromMs(startMs + 9000);
  expect(failedAtMs(failed([], { TaskStates: tasks, ModifyTime }))).toBe(startMs + 7000);
  const ahead = { d: ended('2026-01-01T01:00:00Z') };
  expect(failedAtMs(failed([], { TaskStates: ahead, ModifyTime }))).toBe(startMs + 9000);
  expect(failedAtMs(failed([], { TaskStates: { c: ended(null) } }))).toBe(startMs);
});

describe('trackers', () => {
  const newest = {
    RescheduleTime: instantFromMs(startMs),
    PrevAllocID: 'a',
    PrevNodeID: 'n',
    Delay: seconds(7),
  };
  test('without limit the last five events are kept', () => {
    const tracker = trackerOfReplacement(
      failed([1, 2, 3, 4, 5, 6]),
      policy({}),
      startMs,
      seconds(7),
    );
    expect(tracker.Events!.map((event) => event.Delay / 1e9)).toEqual([3, 4, 5, 6, 7]);
    expect(tracker.Events!.at(-1)).toEqual(newest);
  });

  test('with a limit the events in the interval are kept', () => {
    const rules = policy({ Unlimited: false, Attempts: 9, Interval: seconds(3) });
    const tracker = trackerOfReplacement(failed([1, 2, 3, 4]), rules, startMs, seconds(7));
    expect(tracker.Events!.map((event) => event.Delay / 1e9)).toEqual([3, 4, 7]);
  });

  test('all nodes of its events are penalized', () => {
    expect(nodesOfFailures(failed([1, 2]))).toEqual(new Set(['n', 'n0', 'n1']));
  });
});
