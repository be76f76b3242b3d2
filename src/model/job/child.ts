/**
 * Jobs that are made from a parent: dispatched from a parameterized job, or launched by the schedule of a
 * periodic job. After that, a child is a job like any other. Source: docs/behaviour/jobs.md#children,
 * #launches.
 */
import { instantFromMs } from '../../base/instant.ts';
import type { DispatchRequest } from './dispatch.ts';
import type { Job } from './job.ts';
import { launchId } from './periodic-launch.ts';

/** The specification and version of the parent under a new id, without its history. */
const childOf = (parent: Job, ID: string, nowMs: number): Job => ({
  ...parent,
  ID,
  Name: ID,
  ParentID: parent.ID,
  Status: 'pending',
  StatusDescription: '',
  Stop: false,
  Stable: false,
  VersionTag: null,
  SubmitTime: instantFromMs(nowMs),
});

/** A launched job is not periodic. It may still be parameterized. */
export const launchedChild = (parent: Job, slotMs: number, nowMs: number): Job => ({
  ...childOf(parent, launchId(parent.ID, slotMs), nowMs),
  Periodic: null,
  DispatchIdempotencyToken: '',
});

/** A dispatched job keeps its `ParameterizedJob` block, and counts as dispatched. */
export const dispatchedChild = (
  parent: Job,
  { Payload, Meta, Priority, IdempotencyToken }: DispatchRequest,
  id: string,
  nowMs: number,
): Job => ({
  ...childOf(parent, id, nowMs),
  Dispatched: true,
  DispatchIdempotencyToken: IdempotencyToken,
  Payload: Payload === '' ? null : Payload,
  Meta: Meta === null ? parent.Meta : { ...parent.Meta, ...Meta },
  Priority: Priority || parent.Priority,
});
