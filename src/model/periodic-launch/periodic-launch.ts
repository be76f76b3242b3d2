import { Instant, type Model, stamps, Text, Type } from '../schema.ts';

/**
 * Up to which instant the slots of a periodic job are done with: launched, or left out for good. It is
 * written with what it launches, so that no slot launches twice.
 * Source: docs/behaviour/jobs.md#launches.
 */
export const PeriodicLaunchSchema = Type.Object({
  JobID: Text(),
  Namespace: Text(),
  Launch: Instant(),
  ...stamps,
});
export type PeriodicLaunch = Model<typeof PeriodicLaunchSchema>;
