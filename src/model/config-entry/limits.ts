import { kibibyte } from '../../base/units.ts';

/** Bounds of configuration entries. */
export const configLimits = {
  /** Bytes of an entry in a request. */
  entryBytesMax: 512 * kibibyte,
  /** Entries of all kinds in the cluster. */
  countMax: 100_000,
  /** Source: docs/behaviour/configuration.md#forms-of-an-entry. */
  metaPairsMax: 64,
  metaKeyLengthMax: 128,
  metaValueLengthMax: 512,
  descriptionLengthMax: 512,
  /** Characters of each text in a question about intentions: services, a path, a header. */
  questionLengthMax: 1024,
  /** Services in a question for their intentions. */
  matchedMax: 16,
  /** Services of a matrix of intentions, in each direction. */
  matrixMax: 50,
  /** Conflicts that a refusal tells. */
  describedMax: 10,
  /** Items of any list in an entry, and members of any object. */
  itemsMax: 1024,
  /** Characters of a PEM text, and certificates in it. */
  pemLengthMax: 256 * kibibyte,
  chainLengthMax: 16,
  rsaKeyBitsMin: 2048,
  rsaKeyBitsMax: 8192,
} as const;
