import { Instant, type Model, stamps, Text, Type } from '../schema.ts';

/**
 * The instant up to which the slots of a periodic job are settled: launched, or skipped for good. It is
 * written with the launched children, so that no slot launches twice.
 * Source: docs/behaviour/jobs.md#launches.
 */
export const PeriodicLaunchSchema = Type.Object({
  JobID: Text(),
  Namespace: Text(),
  Launch: Instant(),
  ...stamps,
});
export type PeriodicLaunch = Model<typeof PeriodicLaunchSchema>;
