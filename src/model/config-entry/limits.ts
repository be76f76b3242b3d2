import { kibibyte } from '../../base/units.ts';

/** Configuration entries. */
export const configLimits = {
  /** Of an entry, as it is sent. */
  entryBytesMax: 512 * kibibyte,
  /** Of all kinds, everywhere. */
  countMax: 100_000,
  /** Source: docs/behaviour/configuration.md#forms-of-an-entry. */
  metaPairsMax: 64,
  metaKeyLengthMax: 128,
  metaValueLengthMax: 512,
  descriptionLengthMax: 512,
  /** Of what a question about intentions names: services, a path, a header. */
  questionLengthMax: 1024,
  /** Services that are matched with intentions at a time. */
  matchedMax: 16,
  /** Conflicts that the sentence of a refusal tells. */
  describedMax: 10,
  /** Items of any list in an entry, and members of any object. */
  itemsMax: 1024,
  /** Of one PEM text, and the certificates in one. */
  pemLengthMax: 256 * kibibyte,
  chainLengthMax: 16,
  rsaKeyBitsMin: 2048,
  rsaKeyBitsMax: 8192,
} as const;
