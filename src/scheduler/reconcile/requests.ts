/**
 * Makes the placement requests of a group, each with its name, version and deployment.
 * Source: docs/behaviour/scheduling.md#reconciliation, #names.
 */
import { each, mapped, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { PlacementOrder, PlacementRequest, VersionTests } from '../decision.ts';
import { descriptions } from '../view.ts';
import { type Classified, isCurrent } from './classify.ts';
import { NameIndex } from './names.ts';
import { type GroupRollout, isMoving } from './rollout.ts';
import { stopOf } from './stops.ts';

/** The allocations to replace, by reason. */
export interface Replacing {
  readonly reschedule: readonly Classified[];
  /** Allocations that ended or are away. */
  readonly replaceable: readonly Allocation[];
  /** The number of placements that replace nothing. */
  readonly fresh: number;
  readonly update: readonly Allocation[];
  readonly migrate: readonly Allocation[];
}

export interface Requested {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly rollout: GroupRollout;
  readonly regular: Replacing;
  /** Names of the allocations that stay. */
  readonly keptNames: readonly string[];
  readonly canary: Replacing;
  readonly keptCanaryNames: readonly string[];
  /** Names for canaries, in the order of preference. */
  readonly canaryNames: readonly string[];
  readonly versions: Pick<VersionTests, 'isOutdated' | 'versionOf'>;
}

export interface Orders {
  readonly placements: readonly PlacementRequest[];
  readonly earlier: readonly PlacementOrder[];
}

export const replacedBy = ({ reschedule, replaceable, update, migrate }: Replacing): Set<string> =>
  new Set(
    [...reschedule.map((one) => one.allocation), ...replaceable, ...update, ...migrate].map(
      (one) => one.ID,
    ),
  );

/** The number of placements. */
export const replacedCount = ({
  reschedule,
  replaceable,
  fresh,
  update,
  migrate,
}: Replacing): number =>
  reschedule.length + replaceable.length + fresh + update.length + migrate.length;

/**
 * First replacements keep their names, then new allocations take free names, so that no name is used twice.
 */
export function* ordersFor(wanted: Requested): Steps<Orders> {
  const { job, group, rollout } = wanted;
  const names = yield* NameIndex.of(job.ID, group.Name, wanted.keptNames);
  const canaryNames = yield* NameIndex.of(job.ID, group.Name, wanted.keptCanaryNames);
  const { deploymentId } = rollout;
  const canary = { deploymentId, isCanary: true };
  const canaries = yield* requestsOf(wanted.canary, canaryNames, canary, () =>
    canaryNames.firstOf(wanted.canaryNames),
  );
  const regular = yield* requestsOf(wanted.regular, names, { deploymentId, isCanary: false }, () =>
    names.lowest(),
  );
  return yield* byVersion(wanted, [...canaries, ...regular], ({ previous }) =>
    versionKept(wanted, previous),
  );
}

type Membership = Pick<PlacementRequest, 'deploymentId' | 'isCanary'>;

function* requestsOf(
  { reschedule, replaceable, fresh, update, migrate }: Replacing,
  names: NameIndex,
  membership: Membership,
  freshName: () => string,
): Steps<readonly PlacementRequest[]> {
  const replacement = (
    kind: PlacementRequest['kind'],
    previous: Allocation,
    stop?: string,
    delayNs = 0,
  ): PlacementRequest => ({
    kind,
    name: names.inherit(previous.Name),
    previous,
    stop: stop === undefined ? undefined : stopOf(previous, stop),
    delayNs,
    ...membership,
  });
  const rescheduled = yield* mapped(reschedule, ({ allocation, standing }) => {
    const delayNs = standing.kind === 'reschedule-now' ? standing.delayNs : 0;
    return replacement('reschedule', allocation, descriptions.rescheduled, delayNs);
  });
  const updated = yield* mapped(update, (one) => replacement('update', one, descriptions.updating));
  const migrated = yield* mapped(migrate, (one) => replacement('migrate', one));
  const found = yield* mapped(replaceable, (one) => replacement('lost', one));
  const { deploymentId, isCanary } = membership;
  const added =
    fresh === 0
      ? []
      : yield* mapped(
          Array(fresh).keys(),
          (): PlacementRequest => ({
            kind: 'new',
            name: freshName(),
            previous: undefined,
            stop: undefined,
            delayNs: 0,
            deploymentId,
            isCanary,
          }),
        );
  return [...rescheduled, ...found, ...added, ...updated, ...migrated];
}

/** The version that a replacement has to keep; `undefined`: the current version. */
export function versionKept(
  { job, rollout, versions }: Pick<Requested, 'job' | 'rollout' | 'versions'>,
  previous: Allocation | undefined,
): Job | undefined {
  if (isMoving(rollout.stage) || previous === undefined || isCurrent(previous, job)) {
    return undefined;
  }
  // In-place updates happen while canaries wait, too.
  const mayChange = rollout.stage === 'canaries' && !versions.isOutdated(previous);
  return mayChange ? undefined : versions.versionOf(previous);
}

/** Separates the requests of the current version from those of earlier versions. */
export function* byVersion(
  { group }: Pick<Requested, 'group'>,
  requests: readonly PlacementRequest[],
  versionFor: (request: PlacementRequest) => Job | undefined,
): Steps<Orders> {
  const placements: PlacementRequest[] = [];
  const earlier = new Map<number, { job: Job; placements: PlacementRequest[] }>();
  yield* each(requests, (request) => {
    const version = versionFor(request);
    if (version === undefined) {
      placements.push(request);
      return;
    }
    const order = earlier.get(version.Version) ?? { job: version, placements: [] };
    order.placements.push({ ...request, deploymentId: '' });
    earlier.set(version.Version, order);
  });
  return {
    placements,
    earlier: [...earlier.values()].map((order) => ({
      ...order,
      group: groupNamed(order.job, group.Name)!,
    })),
  };
}
