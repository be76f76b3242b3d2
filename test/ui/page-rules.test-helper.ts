/** Rules that every page of the web interface keeps, checked in the page itself. Each answers with what breaks it. */
import type { Page } from 'playwright-core';

/** An element, as a person who looks for it needs it. */
interface Named {
  readonly what: string;
}

/** Nothing reaches out of the window, and no bar to scroll the page sideways appears. */
export function overflow(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const isHeld = (element: Element): boolean => {
      for (let above = element.parentElement; above !== null; above = above.parentElement) {
        const { overflowX, position } = getComputedStyle(above);
        if (overflowX !== 'visible') return true;
        if (position === 'fixed') return false;
      }
      return false;
    };
    const faults: string[] = [];
    const wide = document.documentElement.scrollWidth - innerWidth;
    if (wide > 0) faults.push(`the page is ${wide} px wider than the window`);
    for (const element of document.querySelectorAll('body *')) {
      const { left, right, width, height } = element.getBoundingClientRect();
      if (width <= 1 || height <= 1 || (left >= -1 && right <= innerWidth + 1)) continue;
      if (getComputedStyle(element).visibility === 'hidden' || isHeld(element)) continue;
      faults.push(
        `${Math.round(left)} to ${Math.round(right)}: ${element.outerHTML.slice(0, 160)}`,
      );
    }
    return faults;
  });
}

/** Where the page reads from right to left, code does not, and arrows along the line point the other way. */
export function mirrored(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    for (const code of document.querySelectorAll('pre, code, kbd, samp, .cm-editor, .xterm')) {
      const { direction, unicodeBidi } = getComputedStyle(code);
      if (direction === 'ltr' || unicodeBidi === 'plaintext') continue;
      faults.push(`code that reads from right to left: ${code.outerHTML.slice(0, 160)}`);
    }
    const pointing = /lucide-(?:chevron|chevrons|arrow|move|undo|redo)-?(?:left|right)\b/;
    for (const icon of document.querySelectorAll('main svg, nav svg, header svg')) {
      if (!pointing.test(icon.getAttribute('class') ?? '')) continue;
      const { scale, transform } = getComputedStyle(icon);
      if (scale.startsWith('-1') || transform.startsWith('matrix(-1')) continue;
      faults.push(`an arrow that points against the line: ${icon.getAttribute('class')}`);
    }
    return faults;
  });
}

/** With reduced motion nothing moves for longer than a blink. */
export function motion(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const blinkMs = 20;
    const longestMs = (times: string): number =>
      Math.max(
        ...times.split(',').map((time) => Number.parseFloat(time) * (/ms$/.test(time) ? 1 : 1000)),
      );
    const faults: string[] = [];
    for (const element of document.querySelectorAll('*')) {
      for (const part of ['', '::before', '::after']) {
        const style = getComputedStyle(element, part);
        const moves = style.animationName !== 'none' ? longestMs(style.animationDuration) : 0;
        if (Math.max(moves, longestMs(style.transitionDuration)) <= blinkMs) continue;
        faults.push(`${element.tagName}.${element.getAttribute('class')}${part}`);
      }
    }
    return [...new Set(faults)];
  });
}

interface TreeNode {
  readonly nodeId: string;
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly properties?: readonly { readonly name: string; readonly value: { value: unknown } }[];
  readonly childIds?: readonly string[];
}

const controls = new Set(
  'button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton tab menuitem menuitemradio treeitem option'.split(
    ' ',
  ),
);

/** The tree that screen readers get: one h1, landmarks, names of all controls, heads of tables, polite regions. */
export async function tree(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as unknown as {
    readonly nodes: readonly TreeNode[];
  };
  await session.detach();
  const all = new Map(nodes.map((node) => [node.nodeId, node]));
  const roleOf = (node: TreeNode): string => (node.ignored ? '' : (node.role?.value ?? ''));
  const nameOf = (node: TreeNode): string => (node.name?.value ?? '').trim();
  const propertyOf = (node: TreeNode, name: string): unknown =>
    node.properties?.find((property) => property.name === name)?.value.value;
  const of = (role: string): readonly TreeNode[] => nodes.filter((node) => roleOf(node) === role);
  const below = (node: TreeNode): readonly TreeNode[] =>
    (node.childIds ?? []).flatMap((id) => {
      const child = all.get(id);
      return child === undefined ? [] : [child, ...below(child)];
    });
  const faults: string[] = [];
  const expectCount = (what: string, found: readonly TreeNode[], isRight: boolean): void => {
    if (!isRight) faults.push(`${what}: ${found.length} (${found.map(nameOf).join(', ')})`);
  };
  const firsts = of('heading').filter((node) => propertyOf(node, 'level') === 1);
  expectCount('headings of level 1', firsts, firsts.length === 1);
  expectCount('main landmarks', of('main'), of('main').length === 1);
  expectCount('banners', of('banner'), of('banner').length === 1);
  expectCount('navigations', of('navigation'), of('navigation').length > 0);
  for (const place of [...of('navigation'), ...of('region')]) {
    if (nameOf(place) === '') faults.push(`a ${roleOf(place)} without a name`);
  }
  for (const node of nodes) {
    if (controls.has(roleOf(node)) && nameOf(node) === '') {
      faults.push(`a ${roleOf(node)} without a name, node ${node.nodeId}`);
    }
    if (!node.ignored && propertyOf(node, 'live') === 'assertive' && roleOf(node) !== 'alert') {
      faults.push(`a ${roleOf(node)} that interrupts what is read: ${nameOf(node)}`);
    }
  }
  for (const table of [...of('table'), ...of('grid')]) {
    const hasHeads = below(table).some((node) => /^(?:column|row)header$/.test(roleOf(node)));
    if (!hasHeads) faults.push(`the table "${nameOf(table)}" has no headers`);
  }
  return faults;
}

/** An element that took the focus, or why the walk is over. */
interface Step extends Named {
  readonly isOver: boolean;
  readonly isEditor: boolean;
  readonly fault: string;
}

/**
 * Walks with Tab through the main part of the page: everything that a mouse can use is reached, in an order that goes on
 * as the eye does, with a focus that can be seen, and the walk has an end.
 */
export async function walk(page: Page): Promise<readonly string[]> {
  const expected = await page.evaluate(beginWalk);
  const faults: string[] = [];
  const spareSteps = 40;
  for (let step = 0; step < expected + spareSteps; step += 1) {
    await page.keyboard.press('Tab');
    const { isOver, isEditor, fault } = await page.evaluate(takeStep);
    if (isOver) return [...faults, ...(await page.evaluate(endWalk))];
    if (fault !== '') faults.push(fault);
    // An editor takes Tab for itself; the page says how to leave it.
    if (isEditor) await page.keyboard.press('Escape');
  }
  return [...faults, `the focus is trapped: ${(await page.evaluate(takeStep)).what}`];
}

interface Walk {
  readonly reached: Set<Element>;
  last: Element | undefined;
}

/** Answers with the number of elements that should be reached. */
function beginWalk(): number {
  const main = document.getElementById('page')!;
  (globalThis as unknown as { walk: Walk }).walk = { reached: new Set(), last: undefined };
  main.focus();
  return main.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"]').length;
}

function takeStep(): Step {
  const { walk } = globalThis as unknown as { walk: Walk };
  const main = document.getElementById('page')!;
  const element = document.activeElement ?? document.body;
  const what = element.outerHTML.slice(0, 200);
  const isOver = element === document.body || !main.contains(element);
  const isEditor = element.closest('.cm-editor') !== null;
  if (isOver || walk.reached.has(element)) return { what, isOver: isOver, isEditor, fault: '' };
  const { last } = walk;
  walk.reached.add(element);
  walk.last = element;
  const says: string[] = [];
  // Editors show the focus at a frame around them.
  let hasRing = false;
  for (let one: Element | null = element; one !== null && one !== main; one = one.parentElement) {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    hasRing ||= outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
    if (!isEditor && !element.matches('textarea')) break;
  }
  if (!hasRing) says.push('the focus cannot be seen');
  const rect = element.getBoundingClientRect();
  const low = Math.max(rect.top, 0);
  const high = Math.min(rect.bottom, innerHeight);
  const start = Math.max(rect.left, 0);
  const end = Math.min(rect.right, innerWidth);
  const isThere = [0.5, 0.1, 0.9].some((share) => {
    const hit = document.elementFromPoint(
      start + (end - start) * share,
      low + (high - low) * share,
    );
    return hit !== null && (element.contains(hit) || hit.contains(element));
  });
  if (!isThere) says.push('the focus is covered, or outside of the window');
  if (last?.isConnected) {
    const before = last.getBoundingClientRect();
    const isAbove = rect.bottom <= before.top - 8;
    const isSameColumn = rect.left < before.right && rect.right > before.left;
    if (isAbove && isSameColumn)
      says.push(`comes after what is below it, ${last.outerHTML.slice(0, 80)}`);
  }
  return { what, isOver, isEditor, fault: says.length === 0 ? '' : `${says.join('; ')}: ${what}` };
}

/** The interactive elements that the walk has not reached. */
function endWalk(): readonly string[] {
  const { walk } = globalThis as unknown as { walk: Walk };
  const main = document.getElementById('page')!;
  const composites =
    '[role=tablist], [role=menu], [role=listbox], [role=grid], [role=tree], [role=radiogroup], .list-row, .cm-editor, .xterm';
  const faults: string[] = [];
  for (const element of main.querySelectorAll<HTMLElement>(
    'a[href], button, input, select, textarea, summary, [tabindex="0"]',
  )) {
    if (walk.reached.has(element) || element.matches(':disabled')) continue;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    // A group of radio buttons has one stop.
    if (element.matches('input[type=radio]')) continue;
    if (element.tabIndex < 0 && element.closest(composites) !== null) continue;
    faults.push(`not reached: ${element.outerHTML.slice(0, 160)}`);
  }
  return faults;
}

/**
 * Opens what the buttons in the head of the page open, by Enter and by Space: the focus goes in, stays in, and returns
 * with Escape. `also` checks what has opened.
 */
export async function openings(
  page: Page,
  acting: readonly string[],
  also: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const buttons = page.locator('main > header button:not([aria-disabled=true])');
  const faults: string[] = [];
  for (const [index, button] of (await buttons.elementHandles()).entries()) {
    const name =
      (await button.getAttribute('aria-label')) ?? ((await button.textContent()) ?? '').trim();
    if (acting.includes(name)) continue;
    await button.focus();
    await page.keyboard.press(index % 2 === 0 ? 'Enter' : 'Space');
    await page.evaluate(nextFrames);
    const opened = await page.evaluate(openedPart);
    if (opened === '') continue;
    if (opened === 'without focus') faults.push(`${name}: the focus does not go to what opened`);
    if (opened === 'dialog') {
      faults.push(...(await also()).map((fault) => `${name}: ${fault}`));
      if (await leavesDialog(page)) faults.push(`${name}: Tab leaves the dialog`);
    }
    await page.keyboard.press('Escape');
    await page.evaluate(nextFrames);
    const isBack = await button.evaluate((element) => element === document.activeElement);
    const isClosed = (await page.evaluate(openedPart)) === '';
    if (!isClosed) faults.push(`${name}: Escape does not close it`);
    else if (!isBack) faults.push(`${name}: the focus does not return to the button`);
  }
  return faults;
}

async function leavesDialog(page: Page): Promise<boolean> {
  const count = await page
    .locator('dialog[open]')
    .locator('a, button, input, select, textarea')
    .count();
  for (let step = 0; step <= count; step += 1) {
    await page.keyboard.press('Tab');
    const isOut = await page.evaluate(() => {
      const { activeElement } = document;
      return activeElement !== document.body && activeElement?.closest('dialog[open]') === null;
    });
    if (isOut) return true;
  }
  return false;
}

/** After two frames the page has drawn what a key has opened. */
export const nextFrames = (): Promise<void> =>
  new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
  });

/** The part that is open over the page: a dialog, a menu, or none. */
function openedPart(): string {
  const dialog = document.querySelector('dialog[open]');
  const opened = dialog ?? document.querySelector('[role=menu]');
  if (opened === null) return '';
  if (!opened.contains(document.activeElement)) return 'without focus';
  return dialog === null ? 'menu' : 'dialog';
}
