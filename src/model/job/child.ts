/**
 * Jobs that are made of a pattern: dispatched from a parameterized job, or launched by the schedule of a
 * periodic one. A child is a job like any other from then on. Source: docs/behaviour/jobs.md#children,
 * #launches.
 */
import { instantFromMs } from '../../base/instant.ts';
import type { DispatchRequest } from './dispatch.ts';
import type { Job } from './job.ts';
import { launchId } from './periodic-launch.ts';

/** The parent's specification and version under an id of its own, with nothing that has happened. */
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

/** Not periodic any more. A dispatched job stays one, with its payload. */
export const launchedChild = (parent: Job, slotMs: number, nowMs: number): Job => ({
  ...childOf(parent, launchId(parent.ID, slotMs), nowMs),
  Periodic: null,
  DispatchIdempotencyToken: '',
});

/** It keeps the block that says what it was given for, and counts as dispatched. */
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
