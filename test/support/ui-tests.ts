/** A browser and an agent for the tests of a file, and pages that are signed in. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Agent, endAgents, startAgent } from './agent.ts';
import { startBrowser, type TestBrowser } from './browser.ts';
import { openUi, signIn } from './ui.ts';

/** A token as it was created. */
export interface MadeToken {
  readonly AccessorID: string;
  readonly SecretID: string;
}

export class UiTests {
  browser!: TestBrowser;
  agent!: Agent;

  /** Starts both before the tests of the file, and ends them after. */
  constructor() {
    beforeAll(async () => {
      [this.browser, this.agent] = await Promise.all([startBrowser(), startAgent()]);
    });
    afterAll(async () => {
      await this.browser?.close();
      await endAgents();
    });
  }

  /** A page below `/ui/` after signing in. */
  async signedIn(path = '', token = this.agent.token): Promise<Page> {
    const page = await openUi(this.browser, { address: this.agent.address, path });
    await signIn(page, token);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  ask(method: string, path: string, body?: unknown, token = this.agent.token): Promise<Response> {
    return fetch(`${this.agent.address}/v1/${path}`, {
      method,
      headers: { 'x-registry-token': token },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** The body of an answer with status 200. */
  async answer<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.ask(method, path, body);
    const text = await answer.text();
    expect([path, answer.status, answer.status === 200 ? '' : text]).toEqual([path, 200, '']);
    return JSON.parse(text) as T;
  }

  made<T = MadeToken>(path: string, body: unknown): Promise<T> {
    return this.answer('PUT', path, body);
  }
}
