/** Tests of the checkers of allocations that are disconnected, lost, failed, or without a job. */
import { instantFromMs } from '../../src/base/instant.ts';
import { disconnectsAreRespected } from './disconnects.ts';
import { endedStaysEnded } from './ended.ts';
import { failuresAreReplaced } from './failures.ts';
import { noOrphansRun } from './orphans.ts';
import {
  changeNode,
  minutes,
  nowMs,
  type Plant,
  placed,
  purgeJob,
  purgeNode,
  put,
  restoreTo,
  service,
  stopped,
  testChecker,
  withEvaluation,
  withJob,
  withNode,
  withService,
} from './planted.test-helper.ts';
import { servicesMatchAllocations } from './services.ts';

/** The index of the job, which the second transaction commits. */
const own = { JobCreateIndex: 2 };
const lose = put(stopped('a', { ClientStatus: 'lost', ...own }));
const away = put(placed('a', { ClientStatus: 'unknown', ...own }));
const replace = put(placed('b', { PreviousAllocation: 'a' }));

/** Disconnects the node of an allocation. Each transaction takes a minute. */
const disconnected = (Disconnect: object, ...plants: readonly Plant[]): readonly Plant[] => [
  withNode('n1'),
  withJob(service(2, { Disconnect })),
  put(placed('a', own)),
  changeNode('n1', { Status: 'disconnected' }),
  ...plants,
];
const forTwoMinutes = { LostAfter: 120e9 };
/** The node comes back, and is missed again by a transaction that ran this time before its commit. */
const missedBefore = (ms: number) => (transaction: Parameters<Plant>[0]) => {
  changeNode('n1', { Status: 'ready' })(transaction);
  changeNode('n1', { Status: 'disconnected', StatusUpdatedAt: instantFromMs(nowMs - ms) })(
    transaction,
  );
};

testChecker(endedStaysEnded, [
  ['lost, and reported again as lost', [put(placed('a')), lose, lose], []],
  ['lost while it was disconnected', [put(placed('a')), away, lose], []],
  [
    'running again after it was lost',
    [put(placed('a')), lose, put(placed('a', { ClientStatus: 'running' }))],
    ['job.web[a] was lost and is running'],
  ],
  [
    'lost after it was complete',
    [put(stopped('a', { ClientStatus: 'complete' })), lose],
    ['job.web[a] was complete and is lost'],
  ],
]);

testChecker(disconnectsAreRespected, [
  ['given up in time', disconnected(forTwoMinutes, away, lose), []],
  [
    'given up too early',
    disconnected(forTwoMinutes, lose),
    ['job.web[a] was given up after 60 s instead of 120 s'],
  ],
  [
    'given up in time, as the commit of the disconnection came five seconds late',
    disconnected({ LostAfter: 65e9 }, missedBefore(5000), lose),
    [],
  ],
  [
    'given up too early after a commit that came four seconds late',
    disconnected({ LostAfter: 65.5e9 }, missedBefore(4000), lose),
    ['job.web[a] was given up after 64 s instead of 65.5 s'],
  ],
  [
    'given up although the node is back',
    disconnected(forTwoMinutes, changeNode('n1', { Status: 'ready' }), lose),
    ['job.web[a] was given up after 0 s instead of 120 s'],
  ],
  ['given up at once, as the group says', disconnected({}, lose), []],
  [
    'given up when the node was purged and registered anew',
    disconnected(forTwoMinutes, purgeNode, withNode('n1', { Status: 'initializing' }), lose),
    [],
  ],
  ['replaced meanwhile', disconnected(forTwoMinutes, away, replace), []],
  [
    'replaced although Replace is false',
    disconnected({ ...forTwoMinutes, Replace: false }, away, replace),
    ['job.web[b] replaces a disconnected allocation although Replace is false'],
  ],
]);

const stop = put(stopped('a', { JobCreateIndex: 1 }));
const isOrphan = ['job.web[a] (a) is to run, but job was purged or created anew'];

testChecker(
  noOrphansRun,
  [
    ['no job was purged', [], []],
    ['stopped in time', [purgeJob, ...minutes(8), stop], []],
    ['stopped too late', [purgeJob, ...minutes(11), stop], isOrphan],
    ['never stopped', [purgeJob], isOrphan],
    [
      'stopped in time after a restore',
      [purgeJob, ...minutes(8), restoreTo(3), ...minutes(8), stop],
      [],
    ],
    ['never stopped after the job was created anew', [purgeJob, withJob(service(1))], isOrphan],
    ['stopped after the job was created anew', [purgeJob, withJob(service(1)), stop], []],
  ],
  { before: [withJob(service(1)), put(placed('a', { JobCreateIndex: 1 }))] },
);

const failed = placed('a', { ClientStatus: 'failed', ...own });
const waiting = withEvaluation({ Status: 'pending' });

testChecker(
  failuresAreReplaced,
  [
    ['failed and replaced', [put(failed), put({ ...failed, NextAllocation: 'b' })], []],
    ['failed and waiting for its time', [put(failed), waiting], []],
    ['failed and forgotten', [put(failed)], ['job.web[a] failed and is not replaced']],
    ['failed, which a restore made undone', [put(failed), restoreTo(2)], []],
    [
      'failed, which a restore brought back',
      [put(failed), put({ ...failed, NextAllocation: 'b' }), restoreTo(3), ...minutes(1)],
      ['job.web[a] failed and is not replaced'],
    ],
    [
      'failed and forgotten after its time',
      [put(failed), waiting, ...minutes(4), withEvaluation({ Status: 'complete' })],
      ['job.web[a] failed and is not replaced'],
    ],
    ['lost and replaced', [lose, put(placed('b', own))], []],
    ['lost and waiting', [lose, waiting], []],
    ['lost and forgotten', [lose], ['job.web[a] was lost and is not replaced']],
  ],
  {
    before: [withNode('n1'), withJob(service(1, { ReschedulePolicy: { Unlimited: true } }))],
    after: minutes(4),
  },
);

const noTask = 'instance is registered, but its task does not run';

testChecker(
  servicesMatchAllocations,
  [
    ['of an allocation whose machine is unknown', [put(placed('a'))], [noTask]],
    [
      'of an allocation that is to end',
      [put(stopped('a'))],
      [
        'instance is registered, but its allocation has ended, is to end, or does not exist',
        noTask,
      ],
    ],
  ],
  { after: [withService({ ID: 'instance', ServiceName: 'web', AllocID: 'a' })] },
);
