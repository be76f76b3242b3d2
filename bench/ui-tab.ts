import { spawn } from 'node:child_process';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { temporaryFolder } from './agent.ts';
import { until } from './benchmark.ts';
import { limits } from './limits.ts';
import { ask, authorityOf, call, type Target } from './target.ts';

/** The web interface in a headless Chromium, and what the page itself can tell of its speed. */

export interface LongTask {
  readonly startTime: number;
  readonly duration: number;
}

/** Runs in every page before its own scripts. A string, because the benchmarks have no types of a browser. */
const observer = `
  globalThis.bench = { firstRowMs: undefined, longTasks: [], sinceMs: 0 };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) bench.longTasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  const rows = new MutationObserver(() => {
    if (document.querySelector('tr.list-row') === null) return;
    rows.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { bench.firstRowMs = performance.now(); }));
  });
  rows.observe(document, { childList: true, subtree: true });
`;

export function startBrowser(executablePath = chromiumOnPath()): Promise<Browser> {
  return chromium.launch({
    executablePath,
    // It shows pages of this benchmark only, and chromium has no sandbox for root.
    chromiumSandbox: false,
    // A tab in the background is measured as if somebody looked at it.
    args: ['--disable-background-timer-throttling', '--disable-renderer-backgrounding'],
  });
}

/** A shell command with the processor time only that nobody else wants. `nice` without the first line chooses among processes of one session. */
const yielding = (command: string): string =>
  `(echo 15 > /proc/self/autogroup) 2>/dev/null\nexec nice -n 15 ${command}\n`;

/** A browser that gets the processor time only that nobody else wants. */
export async function withYieldingBrowser<T>(use: (browser: Browser) => Promise<T>): Promise<T> {
  const folder = temporaryFolder();
  try {
    const path = join(folder.path, 'chromium');
    writeFileSync(path, `#!/bin/sh\n${yielding(`'${chromiumOnPath()}' "$@"`)}`, { mode: 0o755 });
    const browser = await startBrowser(path);
    try {
      return await use(browser);
    } finally {
      await browser.close();
    }
  } finally {
    await folder.remove();
  }
}

/** Keeps all processors busy that nobody else wants, as such a browser does. */
export async function withBusyNeighbours<T>(use: () => Promise<T>): Promise<T> {
  const command = yielding(`'${process.execPath}' -e 'for (;;);'`);
  const neighbours = Array.from({ length: availableParallelism() }, () =>
    spawn('/bin/sh', ['-c', command], { detached: true, stdio: 'ignore' }),
  );
  try {
    return await use();
  } finally {
    for (const neighbour of neighbours) neighbour.kill('SIGKILL');
  }
}

function chromiumOnPath(): string {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'chromium');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The next folder may have it.
    }
  }
  throw new Error('chromium is not on the PATH');
}

export class Tab {
  readonly #target: Target;
  readonly #window: BrowserContext;
  readonly #page: Page;

  private constructor(target: Target, window: BrowserContext, page: Page) {
    this.#target = target;
    this.#window = window;
    this.#page = page;
  }

  /** A tab that has signed in by a link. */
  static async open(browser: Browser, target: Target): Promise<Tab> {
    await until('that the interface is there', async () => {
      const { status } = await ask(target, 'GET', '/ui/');
      return status === 200 ? true : undefined;
    });
    const window = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    window.setDefaultTimeout(limits.ui.answerMs);
    await window.addInitScript(observer);
    const page = await window.newPage();
    const tab = new Tab(target, window, page);
    const { value } = await call<{ readonly Secret: string }>(target, 'POST', '/v1/ui/link', {});
    await page.goto(tab.#address(`sign-in#link=${value.Secret}`));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return tab;
  }

  #address(path: string): string {
    return `http://${authorityOf(this.#target)}/ui/${path}`;
  }

  /** From the beginning of the navigation to the first rows on the screen. */
  async show(path: string): Promise<number> {
    await this.#page.goto(this.#address(path));
    // The policy of the page forbids functions that are made of text, which Playwright would wait with.
    return this.#page.evaluate(`new Promise((resolve) => {
      const look = () => {
        if (bench.firstRowMs === undefined) requestAnimationFrame(look);
        else resolve(bench.firstRowMs);
      };
      look();
    })`);
  }

  /** Goes to a page without a list. */
  async visit(path: string): Promise<void> {
    await this.#page.goto(this.#address(path));
  }

  /** Resolves when one of the texts is on the page, with the time by the clock of the machine. */
  async says(
    text: string | RegExp,
    or = '',
    timeout: number = limits.ui.answerMs,
  ): Promise<number> {
    const one = this.#page.getByText(text);
    const any = or === '' ? one : one.or(this.#page.getByText(or));
    await any.first().waitFor({ timeout });
    return Date.now();
  }

  /** The first text of the page that matches; empty: there is none. */
  async text(pattern: RegExp): Promise<string> {
    const found = await this.#page.getByText(pattern).allTextContents();
    return found[0] ?? '';
  }

  async fill(label: string, text: string): Promise<void> {
    await this.#page.getByLabel(label).fill(text);
  }

  async press(name: string): Promise<void> {
    await this.#page.getByRole('button', { name }).click();
  }

  /** The numbers of the page of events, by their words. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    const text = (await this.#page.getByTestId('counts').textContent()) ?? '';
    const found = [...text.matchAll(/(\d[\d,]*) ([a-z ]+)/g)];
    return Object.fromEntries(
      found.map(([, count, word]) => [word!.trim(), Number(count!.replaceAll(',', ''))]),
    );
  }

  /** Resolves when a cell of the list has exactly this text, with the time by the clock of the machine. */
  shows(text: string): Promise<number> {
    return this.#page.evaluate(`new Promise((resolve) => {
      const look = () => {
        const cells = [...document.querySelectorAll('tr.list-row td')];
        if (!cells.some((cell) => cell.textContent.trim() === ${JSON.stringify(text)})) return false;
        requestAnimationFrame(() => resolve(Date.now()));
        return true;
      };
      if (look()) return;
      const observer = new MutationObserver(() => { if (look()) observer.disconnect(); });
      observer.observe(document, { childList: true, subtree: true, characterData: true });
    })`);
  }

  /** Forgets the long tasks so far. The browser may report some of them later. */
  async forgetTasks(): Promise<void> {
    await this.#page.evaluate('bench.sinceMs = performance.now()');
  }

  longTasks(): Promise<readonly LongTask[]> {
    return this.#page.evaluate(
      'bench.longTasks.filter(({ startTime }) => startTime >= bench.sinceMs)',
    );
  }

  /** The heap of the page in megabytes, after a collection. */
  async heapMb(): Promise<number> {
    const session = await this.#window.newCDPSession(this.#page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return usedSize / 1024 ** 2;
  }

  close(): Promise<void> {
    return this.#window.close();
  }
}
