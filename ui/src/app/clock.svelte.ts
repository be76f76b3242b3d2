/** The one clock of all relative times. It stands still while the page is hidden. */
const tickMs = 1000;
let nowMs = $state(Date.now());

function tick(): void {
  if (!document.hidden) nowMs = Date.now();
}
setInterval(tick, tickMs);
document.addEventListener('visibilitychange', tick);

export const clock = {
  get nowMs(): number {
    return nowMs;
  },
};
