import { limits } from '../live/limits.ts';
import { durationText } from '../parts/format.ts';

/** How far the clock of the device is off, as in "3 min behind"; `undefined`: too little to be told. */
export function clockFault(aheadMs: number): string | undefined {
  if (Math.abs(aheadMs) <= limits.clockDifferenceMs) return undefined;
  return `${durationText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'behind' : 'ahead'}`;
}

export function clockSentence(aheadMs: number): string | undefined {
  const fault = clockFault(aheadMs);
  if (fault === undefined) return undefined;
  return `The clock of this device is ${fault}${aheadMs > 0 ? '' : ' of'} that of the server.`;
}
