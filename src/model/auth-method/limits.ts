import { kibibyte } from '../../base/units.ts';

/** Configurations of logins. */
export const authMethodLimits = {
  configTextLengthMax: 2048,
  /** Certificates may come as a chain. */
  pemLengthMax: 64 * kibibyte,
  claimMappingsMax: 128,
  namespaceRulesMax: 128,
} as const;
