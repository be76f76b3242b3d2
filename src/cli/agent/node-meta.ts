/** The setting `node.meta`: servers refuse a node whose pairs are too many or too long. */
import { limits } from '../../model/limits.ts';
import { textMapThat } from './setting-checks.ts';

const { attributesMax: pairsMax, attributeLengthMax: lengthMax } = limits.node;

const must = `must be an object of at most ${pairsMax} texts; names and texts have at most ${lengthMax} characters`;

const texts = textMapThat((text) => text.length <= lengthMax, must);

/** Says what the setting must be; `undefined` if it is valid. */
export const nodeMetaFault = (value: unknown): string | undefined =>
  texts.fault(value) ?? (Object.keys(value as object).length > pairsMax ? must : undefined);
