import { kibibyte } from '../../base/units.ts';

export interface RulesLimits {
  /** Length in UTF-16 code units. */
  readonly textLengthMax: number;
  readonly rulesMax: number;
  readonly nameLengthMax: number;
  readonly faultsMax: number;
  readonly ruleTextLengthMax: number;
}

export const rulesLimits: RulesLimits = {
  textLengthMax: 512 * kibibyte,
  rulesMax: 10_000,
  nameLengthMax: 1024,
  faultsMax: 50,
  ruleTextLengthMax: 400,
};
