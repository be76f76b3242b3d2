import { kibibyte } from '../../base/units.ts';

/** Events that are kept of the scaling of a group. */
export const scalingLimits = {
  eventsKept: 20,
  textLengthMax: 1024,
  metaLengthMax: 8 * kibibyte,
} as const;
