/**
 * Remembers what has the focus. The answer gives it back, or to the page if that is gone, unless something else has taken
 * it meanwhile. A browser does so itself only for a dialog that is closed before it is removed.
 */
export function returnedFocus(): () => void {
  const before = document.activeElement;
  return () =>
    queueMicrotask(() => {
      const { activeElement, body } = document;
      if (activeElement !== null && activeElement !== body) return;
      const next = before?.isConnected ? before : document.getElementById('page');
      if (next instanceof HTMLElement && next !== body) next.focus({ preventScroll: true });
    });
}
