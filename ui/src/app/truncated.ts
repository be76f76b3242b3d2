/** Texts that are cut off where they stand: the whole text is their title while the pointer is over them. */
const cutOff = '.list-cell, .truncate, [data-truncate]';

export function titleTruncated(root: Document): void {
  root.addEventListener('pointerover', ({ target }) => {
    const element = (target as Element | null)?.closest?.<HTMLElement>(cutOff);
    if (element === null || element === undefined) return;
    const isCut = element.scrollWidth > element.clientWidth;
    const isOurs = element.dataset.titled !== undefined;
    if (isCut && (isOurs || element.title === '')) {
      element.title = element.textContent.replaceAll(/\s+/g, ' ').trim();
      element.dataset.titled = '';
    } else if (!isCut && isOurs) {
      element.title = '';
      delete element.dataset.titled;
    }
  });
}
