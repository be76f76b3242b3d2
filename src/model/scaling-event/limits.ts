import { kibibyte } from '../../base/units.ts';

/** Events of scaling that are kept of a group. */
export const scalingLimits = {
  eventsKept: 20,
  textLengthMax: 1024,
  metaLengthMax: 8 * kibibyte,
} as const;
