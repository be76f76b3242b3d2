/** Tests of the checkers of updates, rollbacks and drains. */
import { formatInstant, instantFromMs } from '../../src/base/instant.ts';
import { autoRevertLandsOnStable } from './auto-revert.ts';
import { drainsEnd } from './drains-end.ts';
import { atMostMaxParallelUnhealthy } from './max-parallel.ts';
import { drainsMoveFewAtATime } from './migrations.ts';
import {
  changeNode,
  marked,
  minutes,
  nowMs,
  type Plant,
  placed,
  put,
  restoreTo,
  service,
  stopped,
  testChecker,
  withDeployment,
  withJob,
  withNode,
} from './planted.test-helper.ts';

/** An allocation of a deployment that replaces another one. */
const next = (ID: string, PreviousAllocation: string, Healthy: boolean | null = null) =>
  placed(ID, {
    PreviousAllocation,
    DeploymentID: 'd',
    JobVersion: 1,
    DeploymentStatus: { Healthy, Timestamp: null, Canary: false, ModifyIndex: 0 },
  });

testChecker(
  atMostMaxParallelUnhealthy,
  [
    [
      'one after the other',
      [
        put(stopped('a'), next('c', 'a')),
        put(next('c', 'a', true)),
        put(stopped('b'), next('d', 'b')),
      ],
      [],
    ],
    [
      'both at once',
      [put(stopped('a'), next('c', 'a')), put(stopped('b'), next('d', 'b'))],
      ['2 replacements at a time, MaxParallel is 1: job.web[c], job.web[d]'],
    ],
    [
      'the second one after a restore that forgot that the first one is healthy',
      [
        put(stopped('a'), next('c', 'a')),
        put(next('c', 'a', true)),
        restoreTo(4),
        put(stopped('b'), next('d', 'b')),
      ],
      ['2 replacements at a time, MaxParallel is 1: job.web[c], job.web[d]'],
    ],
    [
      'the second one after a restore that forgot the first one',
      [put(stopped('a'), next('c', 'a')), restoreTo(3), put(stopped('b'), next('d', 'b'))],
      [],
    ],
    [
      'the second one while the successor of a failed one starts',
      [
        put(stopped('a'), next('c', 'a')),
        put({ ...next('c', 'a', false), ClientStatus: 'failed' }),
        put({ ...next('c', 'a', false), NextAllocation: 'e' }, next('e', 'c')),
        put(stopped('b'), next('d', 'b')),
      ],
      ['2 replacements at a time, MaxParallel is 1: job.web[e], job.web[d]'],
    ],
    [
      'a lost allocation is replaced by the new version',
      [
        put(stopped('a'), next('c', 'a')),
        put(stopped('b', { ClientStatus: 'lost' }), next('d', 'b')),
      ],
      [],
    ],
    [
      'the second one while the first one is on a disconnected node',
      [
        withNode('n2'),
        put(stopped('a'), { ...next('c', 'a'), NodeID: 'n2' }),
        changeNode('n2', { Status: 'disconnected' }),
        put(stopped('b'), next('d', 'b')),
      ],
      [],
    ],
  ],
  {
    before: [
      withNode('n1'),
      withJob({ ...service(3, { Update: { MaxParallel: 1 } }), Version: 1 }),
      put(placed('a'), placed('b')),
    ],
  },
);

const dueMs = nowMs + 23;
const dueSoon = changeNode('n1', {
  DrainStrategy: { ForceDeadline: formatInstant(dueMs) } as never,
});
const markedAt = (timeMs: number) =>
  ['a', 'b'].map((ID) => put({ ...marked(ID), ModifyTime: instantFromMs(timeMs) }));

testChecker(
  drainsMoveFewAtATime,
  [
    [
      'one after the other',
      [
        put(marked('a')),
        put(stopped('a', { NextAllocation: 'd' }), next('d', 'a', true)),
        put(marked('b')),
      ],
      [],
    ],
    [
      'both at once',
      [put(marked('a')), put(marked('b'))],
      ['2 move at a time, Migrate.MaxParallel is 1: job.web[a], job.web[b]'],
    ],
    [
      'the second one before the replacement of the first one is healthy',
      [
        put(marked('a')),
        put(
          { ...marked('a'), DesiredStatus: 'stop', NextAllocation: 'd' },
          { ...next('d', 'a'), NodeID: 'n2' },
        ),
        put(marked('b')),
      ],
      ['2 move at a time, Migrate.MaxParallel is 1: job.web[d], job.web[b]'],
    ],
    [
      'all of them after the deadline',
      [
        changeNode('n1', { DrainStrategy: { ForceDeadline: '2025-12-31T00:00:00Z' } as never }),
        put(marked('a'), marked('b')),
      ],
      [],
    ],
    [
      'all of them after the deadline by the clock of a leader that is ahead of the machine',
      [dueSoon, ...markedAt(dueMs)],
      [],
    ],
    [
      'all of them before the deadline by the clock of such a leader',
      [dueSoon, ...markedAt(dueMs - 1)],
      ['2 move at a time, Migrate.MaxParallel is 1: job.web[a], job.web[b]'],
    ],
  ],
  {
    before: [
      withNode('n1'),
      withJob(service(3, { Migrate: { MaxParallel: 1 } })),
      put(placed('a'), placed('b'), placed('c')),
      changeNode('n1', { Drain: true }),
    ],
  },
);

const drainUntil = (ForceDeadline: string | null): Plant =>
  changeNode('n1', { Drain: true, DrainStrategy: { ForceDeadline } as never });

testChecker(
  drainsEnd,
  [
    ['the deadline is in the future', [drainUntil('2027-01-01T00:00:00Z')], []],
    ['there is no deadline', [drainUntil(null)], []],
    [
      'the drain goes on after its deadline',
      [drainUntil('2025-12-31T00:00:00Z')],
      ['name-n1 is still drained'],
    ],
    [
      'an allocation stays after the drain',
      [put(marked('a'))],
      ['job.web[a] was told to leave name-n1, but is still there'],
    ],
    [
      'an allocation is not told to leave',
      [withJob(service(1)), drainUntil('2025-12-31T00:00:00Z'), ...minutes(20), drainUntil(null)],
      ['job.web[a] stays on name-n1, whose drain had the deadline 2025-12-31T00:00:00Z'],
    ],
  ],
  { before: [withNode('n1'), put(placed('a'))] },
);

const version = (Version: number, Stable: boolean, CPU: number): Plant => {
  const Tasks = [{ Name: 'server', Driver: 'raw_exec', Resources: { CPU } }];
  return withJob({ ...service(1, { Tasks }), Version, Stable });
};

const fail = (how: string): Plant =>
  withDeployment({
    JobVersion: 3,
    Status: 'failed',
    TaskGroups: { web: { AutoRevert: true } as never },
    StatusDescription: `Failed due to unhealthy allocations${how}`,
  });

testChecker(
  autoRevertLandsOnStable,
  [
    [
      'to the newest stable version',
      [version(4, false, 110), fail(' - rolling back to job version 1')],
      [],
    ],
    [
      'to an older version',
      [version(4, false, 100), fail(' - rolling back to job version 0')],
      ['job reverted to version 0, the newest stable version is 1'],
    ],
    [
      'with another specification',
      [version(4, false, 100), fail(' - rolling back to job version 1')],
      ['job reverted to version 1, but differs from it'],
    ],
    [
      'not at all',
      [fail('')],
      ['job did not revert to version 1: Failed due to unhealthy allocations'],
    ],
    ['not at all, since the job was changed meanwhile', [version(4, false, 140), fail('')], []],
  ],
  {
    before: [
      version(0, true, 100),
      version(1, true, 110),
      version(2, false, 120),
      version(3, false, 130),
    ],
  },
);
