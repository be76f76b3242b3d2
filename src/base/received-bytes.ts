import { garbageCollector } from './collector.ts';
import { collectorLimits } from './limits.ts';

let collect: NodeJS.GCFunction | undefined;
let receivedBytes = 0;

/**
 * To be told of received buffers, which are soon garbage. For the collector each is a small object: by itself it would let a
 * hundred megabytes of them pile up. Collecting young objects earlier also costs less processor time than new pages do.
 */
export function noteReceived(bytes: number): void {
  receivedBytes += bytes;
  if (receivedBytes < collectorLimits.receivedBytesMax) return;
  receivedBytes = 0;
  collect ??= garbageCollector();
  void collect({ type: 'minor' });
}
