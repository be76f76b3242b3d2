/** Pages of the web interface in a headless browser. */
import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { eventually } from './agent.ts';
import type { TestBrowser } from './browser.ts';

export interface UiPageOptions {
  /** Of the agent, or of a proxy in front of it. */
  readonly address: string;
  /** Below `/ui/`, such as `jobs/default/web`. */
  readonly path?: string;
  /** A window that has other pages already; by default a new one, which is closed after the test. */
  readonly window?: BrowserContext;
  /** The test ends the server, or its leader, while the page is open. */
  readonly endsServer?: boolean;
}

/**
 * Opens a page of the interface. The test fails if the page reports an error on its console, throws one, or does what its
 * content security policy forbids.
 */
export async function openUi(browser: TestBrowser, options: UiPageOptions): Promise<Page> {
  const { address, path = '', window = await browser.window() } = options;
  const page = await window.newPage();
  const faults = watchFaults(page, options.endsServer);
  onTestFinished(async () => {
    await (options.window === undefined ? window.close() : page.close());
    expect(faults).toEqual([]);
  });
  await uiIsThere(address);
  await page.goto(`${address}/ui/${path}`);
  return page;
}

/** The faults that the page reports, as they come. */
export function watchFaults(page: Page, mayLose = false): readonly string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  // Chromium reports what a policy forbids as an error on the console.
  page.on('console', (message) => {
    // It reports refusals of the API as well, which pages show in their own way.
    const ofRefusals = mayLose ? /status of (4|503)/ : /status of 4/;
    const isRefusal = /\/v1\//.test(message.location().url) && ofRefusals.test(message.text());
    // A server that has gone away is told on the page.
    const isLost = /^WebSocket connection to .* failed/.test(message.text());
    if (message.type() === 'error' && !isRefusal && !(isLost && mayLose))
      faults.push(`console: ${message.text()}`);
  });
  return faults;
}

/** An agent of a checkout may still look for its files. */
export async function uiIsThere(address: string): Promise<void> {
  await eventually(async () => {
    const { status } = await fetch(`${address}/ui/`);
    expect(status).toBe(200);
  });
}

/** Signs in with a token, as a user does. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('Token', { exact: true }).waitFor({ state: 'detached' });
}
