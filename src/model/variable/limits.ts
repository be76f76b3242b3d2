import { kibibyte } from '../../base/units.ts';

export const variableLimits = {
  pathLengthMax: 512,
  /** Names and texts of a variable together. Source: docs/guides/variables.md#limits. */
  itemsBytesMax: 64 * kibibyte,
  itemsMax: 1000,
  nameLengthMax: 256,
  countMax: 100_000,
} as const;
