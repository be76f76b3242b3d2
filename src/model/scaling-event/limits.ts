import { kibibyte } from '../../base/units.ts';

/** What is kept of whoever scales a group. */
export const scalingLimits = {
  eventsKept: 20,
  textLengthMax: 1024,
  metaLengthMax: 8 * kibibyte,
} as const;
