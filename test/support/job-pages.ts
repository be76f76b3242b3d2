/** Jobs for the tests of their pages, and what these tests do again and again. */
import type { Locator, Page } from 'playwright-core';

const small = { CPU: 20, MemoryMB: 16 };

/** A task that runs until it is stopped. */
export const sleeper = (changes: object = {}) => ({
  Name: 'run',
  Driver: 'raw_exec',
  Config: { command: '/bin/sleep', args: ['100000'] },
  Resources: small,
  ...changes,
});

/** A service of one such task. */
export const sleepingJob = (ID: string, changes: object = {}, group: object = {}) => ({
  ID,
  Type: 'service',
  TaskGroups: [{ Name: 'main', Count: 1, Tasks: [sleeper()], ...group }],
  ...changes,
});

export const button = (page: Page, name: string): Locator =>
  page.getByRole('button', { name, exact: true });

export const inDialog = (page: Page, name: string): Locator =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });

/** Waits until the text is there. */
export const sees = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor();
