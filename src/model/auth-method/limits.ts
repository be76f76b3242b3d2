import { kibibyte } from '../../base/units.ts';

/** Bounds of the configurations of logins. */
export const authMethodLimits = {
  configTextLengthMax: 2048,
  /** Room for a chain of certificates. */
  pemLengthMax: 64 * kibibyte,
  claimMappingsMax: 128,
  namespaceRulesMax: 128,
} as const;
