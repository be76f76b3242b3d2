import type { IndexedRows } from './indexed-rows.ts';
import { afterKey, afterPrefix, encodeKey, encodeRange } from './keys.ts';
import type { ScanOptions } from './types.ts';

/** The texts between which a scan looks. */
export interface Bounds {
  readonly least: string;
  readonly end: string | undefined;
  readonly isReverse: boolean;
}

export function boundsOf(options: ScanOptions): Bounds {
  const { reverse: isReverse = false } = options;
  const prefix = encodeRange(options);
  const end = afterPrefix(prefix);
  const from = options.from === undefined ? undefined : encodeKey(options.from);
  if (!isReverse) {
    return { least: from === undefined || from < prefix ? prefix : from, end, isReverse };
  }
  const isBelow = from !== undefined && (end === undefined || from < end);
  return { least: prefix, end: isBelow ? afterKey(from) : end, isReverse };
}

/** The rows between the bounds, in the direction of the scan. */
export const scanBetween = <R>(rows: IndexedRows<R>, { least, end, isReverse }: Bounds) =>
  isReverse ? rows.valuesReversed(least, end) : rows.values(least, end);
