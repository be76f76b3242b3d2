/** Random lives of a job, and lives that once found a bug. */
import fc from 'fast-check';
import type { JobType } from '../../model/job/job.ts';
import type { NodeStatus } from '../../model/node/node.ts';
import type { makeGroup } from '../cluster.test-helper.ts';

export type Group = NonNullable<Parameters<typeof makeGroup>[0]>;

export interface Setting {
  readonly type: JobType;
  readonly nodes: number;
  readonly update: { readonly MaxParallel: number; readonly Canary: number };
  readonly disconnect: Group['Disconnect'];
  readonly unlimited: boolean;
}

export interface Wish {
  readonly count: number;
  /** Changing it is destructive. */
  readonly env: string;
  /** Changing it is an update in place. */
  readonly delay: number;
}

export const setting: fc.Arbitrary<Setting> = fc.record({
  type: fc.constantFrom<JobType>('service', 'service', 'service', 'batch', 'system', 'sysbatch'),
  nodes: fc.integer({ min: 1, max: 4 }),
  update: fc.record({
    MaxParallel: fc.integer({ min: 0, max: 3 }),
    Canary: fc.constantFrom(0, 0, 1, 2, 50),
  }),
  disconnect: fc.constantFrom(
    null,
    null,
    { LostAfter: 30e9 },
    { LostAfter: 30e9, Replace: false },
    { LostAfter: 30e9, Reconcile: 'keep_replacement' as const },
    { LostAfter: 30e9, Reconcile: 'keep_original' as const },
    { Replace: false },
    { StopOnClientAfter: 10e9 },
  ),
  unlimited: fc.boolean(),
});

export const wish: fc.Arbitrary<Wish> = fc.record({
  count: fc.integer({ min: 0, max: 5 }),
  env: fc.constantFrom('a', 'b', 'c'),
  delay: fc.integer({ min: 1, max: 2 }),
});

export const nodeState = fc.constantFrom<NodeStatus | 'drained' | 'ineligible' | 'gone'>(
  'ready',
  'ready',
  'down',
  'disconnected',
  'initializing',
  'drained',
  'ineligible',
  'gone',
);

export const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('job' as const), wish }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('node' as const), at: fc.nat(7), state: nodeState }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'fail' as const,
        'complete' as const,
        'migrate' as const,
        'start' as const,
        'reschedule' as const,
        'force' as const,
        'healthy' as const,
        'healthy' as const,
        'healthy' as const,
        'unhealthy' as const,
        'ends' as const,
      ),
      at: fc.nat(7),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('promote', 'pause', 'resume', 'fail-deployment', 'stop', 'wait'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('allHealthy' as const) }) },
);
export type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

export const life = fc.record({
  setting,
  first: wish,
  events: fc.array(
    fc.record({
      event,
      evaluates: fc.boolean(),
      /** The plan applier refuses the plan's part for this node. */
      refused: fc.option(fc.nat(7), { nil: undefined, freq: 4 }),
    }),
    { maxLength: 30 },
  ),
  last: wish,
});

export type Biography = typeof life extends fc.Arbitrary<infer T> ? T : never;

/** Lives that once found a bug. */
export const wentWrong: readonly Biography[] = [
  // A delay as short as a window led to an endless chain of evaluations.
  biography({
    type: 'service',
    nodes: 1,
    update: { MaxParallel: 0, Canary: 0 },
    job: [1, 'a'],
    events: [
      [{ kind: 'fail', at: 0 }, false],
      [{ kind: 'job', wish: { count: 1, env: 'a', delay: 1 } }, true],
    ],
  }),
  // A running allocation with a reschedule request, but no policy, was taken for an ended one.
  biography({
    type: 'system',
    nodes: 1,
    update: { MaxParallel: 0, Canary: 0 },
    job: [0, 'a'],
    events: [
      [{ kind: 'job', wish: { count: 1, env: 'a', delay: 1 } }, true],
      [{ kind: 'reschedule', at: 0 }, false],
    ],
  }),
  // A promoted canary and its predecessor both went on when the group grew.
  biography({
    type: 'service',
    nodes: 1,
    update: { MaxParallel: 1, Canary: 1 },
    job: [1, 'a'],
    events: [],
    last: 3,
  }),
  biography({
    type: 'service',
    nodes: 1,
    update: { MaxParallel: 1, Canary: 1 },
    job: [2, 'c'],
    events: [
      [{ kind: 'job', wish: { count: 1, env: 'a', delay: 1 } }, false],
      [{ kind: 'fail', at: 1 }, true],
      [{ kind: 'complete', at: 0 }, false],
      [{ kind: 'healthy', at: 0 }, true],
      [{ kind: 'promote' }, false],
    ],
    last: 2,
  }),
  // A deployment succeeded although a once healthy allocation had failed or ended since.
  biography({
    type: 'service',
    nodes: 1,
    update: { MaxParallel: 1, Canary: 0 },
    job: [1, 'a'],
    events: [
      [{ kind: 'allHealthy' }, false],
      [{ kind: 'fail', at: 0 }, true],
    ],
  }),
  biography({
    type: 'system',
    nodes: 1,
    update: { MaxParallel: 1, Canary: 0 },
    job: [1, 'a'],
    events: [
      [{ kind: 'allHealthy' }, false],
      [{ kind: 'complete', at: 0 }, false],
      [{ kind: 'fail', at: 0 }, true],
    ],
  }),
  // An allocation that could be updated in place was replaced by the version before.
  biography({
    type: 'system',
    nodes: 4,
    update: { MaxParallel: 1, Canary: 1 },
    job: [1, 'a'],
    events: [
      [{ kind: 'job', wish: { count: 1, env: 'c', delay: 1 } }, false],
      [{ kind: 'fail', at: 0 }, true],
      [{ kind: 'job', wish: { count: 1, env: 'c', delay: 1 } }, false],
      [{ kind: 'fail', at: 7 }, true],
    ],
  }),
];

interface Sketch {
  readonly type: JobType;
  readonly nodes: number;
  readonly update: Setting['update'];
  /** Count and environment of the first version. */
  readonly job: readonly [count: number, env: string];
  /** Events, each with whether an evaluation follows. */
  readonly events: readonly (readonly [Event, boolean])[];
  /** The count of the last version. */
  readonly last?: number;
}

function biography({ type, nodes, update, job, events, last = 0 }: Sketch): Biography {
  const [count, env] = job;
  return {
    setting: { type, nodes, update, disconnect: null, unlimited: false },
    first: { count, env, delay: 1 },
    events: events.map(([what, evaluates]) => ({ event: what, evaluates, refused: undefined })),
    last: { count: last, env: 'a', delay: 1 },
  };
}
