/**
 * The clock of all ages. It is that of the server, as far as the page knows it, since the clock of the device may be wrong.
 * It stands still while the page is hidden.
 */
import { untrack } from 'svelte';

const tickMs = 1000;
let hereMs = $state(Date.now());
/** How far the clock of the server is ahead of that of this device. */
let aheadMs = $state(0);

function tick(): void {
  if (!document.hidden) hereMs = Date.now();
}
setInterval(tick, tickMs);
document.addEventListener('visibilitychange', tick);

export const clock = {
  get nowMs(): number {
    return hereMs + aheadMs;
  },
  get aheadMs(): number {
    return aheadMs;
  },
  /** The exact instant, to be noted. Nothing is drawn again as it passes. */
  instantMs: (): number => Date.now() + untrack(() => aheadMs),
  follow(measuredMs: number): void {
    if (measuredMs === aheadMs) return;
    aheadMs = measuredMs;
    hereMs = Date.now();
  },
};
