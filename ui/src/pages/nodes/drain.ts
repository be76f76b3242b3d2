/** The allocations that a drain would move. Source: docs/behaviour/nodes.md#drains. */
import type { WholeAllocation } from '../../../../src/model/allocation/present.ts';

const minute = 60 * 1e9;

export const deadlines = {
  '15m': {
    title: '15 minutes',
    nanoseconds: 15 * minute,
    flags: ['-deadline', '15m'],
    says: 'What is still there after 15 minutes moves at once.',
  },
  '1h': {
    title: '1 hour',
    nanoseconds: 60 * minute,
    flags: ['-deadline', '1h'],
    says: 'What is still there after an hour moves at once.',
  },
  '6h': {
    title: '6 hours',
    nanoseconds: 360 * minute,
    flags: ['-deadline', '6h'],
    says: 'What is still there after 6 hours moves at once.',
  },
  none: {
    title: 'None',
    nanoseconds: 0,
    flags: ['-no-deadline'],
    says: 'The drain waits without a limit.',
  },
  now: {
    title: 'Now',
    nanoseconds: -1,
    flags: ['-force'],
    says: 'Everything moves at once, whatever its limit for migrations.',
  },
} as const;

/** Filter of allocations that have not ended. */
export const isLive =
  'ClientStatus == running or ClientStatus == pending or ClientStatus == unknown';

/** Allocations whose groups are counted. */
export const movingRowsMax = 500;

export interface MovingGroup {
  readonly key: string;
  readonly job: string;
  readonly name: string;
  readonly count: number;
  readonly type: string;
  readonly isSystem: boolean;
  /** `undefined`: the job does not tell. */
  readonly maxParallel: number | undefined;
}

export function groupsToMove(allocations: readonly WholeAllocation[]): readonly MovingGroup[] {
  const groups = Map.groupBy(allocations, ({ Namespace, JobID, TaskGroup }) =>
    JSON.stringify([Namespace, JobID, TaskGroup]),
  );
  return [...groups].map(([key, members]) => {
    const { JobID, TaskGroup, Job } = members[0]!;
    const group = Job?.TaskGroups.find(({ Name }) => Name === TaskGroup);
    const type = Job?.Type ?? '';
    return {
      key,
      job: JobID,
      name: TaskGroup,
      count: members.length,
      type,
      isSystem: type === 'system' || type === 'sysbatch',
      maxParallel: group?.Migrate?.MaxParallel,
    };
  });
}

export interface DrainWish {
  readonly ignoresSystemJobs: boolean;
  readonly deadline: keyof typeof deadlines;
}

export function howItMoves(
  { type, isSystem, maxParallel }: MovingGroup,
  { ignoresSystemJobs, deadline }: DrainWish,
): string {
  if (isSystem && ignoresSystemJobs) return 'stays: a system job';
  if (deadline === 'now') return 'at once';
  if (type === 'system') return 'stops last: a system job';
  if (type === 'batch' || type === 'sysbatch') {
    return deadline === 'none' ? 'may run to its end' : 'may run until the deadline';
  }
  return maxParallel === undefined ? 'in order' : `at most ${maxParallel} of the group at a time`;
}
