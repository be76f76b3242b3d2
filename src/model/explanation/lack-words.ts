import { dimensionInWords } from '../allocation/placement-words.ts';
import type { Lack } from './explanation.ts';

const units: Readonly<Record<string, readonly [name: string, unit: string]>> = {
  cpu: ['CPU', ' MHz'],
  memory: ['memory', ' MB'],
  disk: ['disk', ' MB'],
  cores: ['cores', ''],
};

/** What a node lacks: `memory: needs 512 MB, 100 of 1024 MB free`. */
export function lackInWords({ Dimension, Asked, Free, Total }: Lack): string {
  const known = units[Dimension];
  if (known === undefined || Asked === null) return dimensionInWords(Dimension);
  const [name, unit] = known;
  return `${name}: needs ${Asked}${unit}, ${Free} of ${Total}${unit} free`;
}
