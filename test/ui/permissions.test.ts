/** Acts on a page whose questions about the rights of the token get no answer for a while. */
import type { Page, WebSocketRoute } from 'playwright-core';
import { expect, test } from 'vitest';
import { problemOf, type RosterError, refusal } from '../../src/model/errors.ts';
import type { ClientMessage, ServerMessage } from '../../src/model/ui-stream/messages.ts';
import { openUi, signIn } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

/** A page of the servers, and the server as its connection shows it. */
class Between {
  /** The answer to questions about rights. */
  refusal: RosterError | undefined = refusal('no-leader');
  /** The questions that were refused. */
  refused = 0;
  /** In the place of what the server says. */
  knownLeader = true;
  #page: WebSocketRoute | undefined;
  #last: (ServerMessage & { readonly kind: 'welcome' }) | undefined;

  async open(): Promise<Page> {
    const window = await ui.browser.window();
    await window.routeWebSocket(/\/v1\/ui\/stream$/, (page) => {
      this.#page = page;
      const server = page.connectToServer();
      page.onMessage((text) => {
        const message = JSON.parse(String(text)) as ClientMessage;
        if (this.refusal === undefined || !isQuestion(message)) return server.send(text);
        this.refused += 1;
        const problem = problemOf(this.refusal);
        const body = JSON.stringify(problem);
        const headers = { 'content-type': 'application/problem+json' };
        page.send(
          JSON.stringify({ kind: 'answer', id: message.id, status: problem.status, headers, body }),
        );
      });
      server.onMessage((text) => {
        if (typeof text !== 'string') return page.send(text);
        const message = JSON.parse(text) as ServerMessage;
        if (message.kind === 'welcome') this.#last = message;
        const isTold = message.kind === 'welcome' || message.kind === 'beat';
        page.send(isTold ? JSON.stringify({ ...message, knownLeader: this.knownLeader }) : text);
      });
    });
    const { browser, agent } = ui;
    const page = await openUi(browser, { address: agent.address, path: 'servers', window });
    await signIn(page, agent.token);
    return page;
  }

  /** As the server does when a leader is known, or no longer. */
  beat(): void {
    const { index, nowMs } = this.#last!;
    const { knownLeader } = this;
    this.#page!.send(JSON.stringify({ kind: 'beat', index, nowMs, knownLeader }));
  }
}

const isQuestion = (message: ClientMessage): message is ClientMessage & { readonly id: number } =>
  message.kind === 'call' && /^\/v1\/(acl\/explain|internal\/acl\/authorize)/.test(message.path);

const act = (page: Page) => page.getByRole('button', { name: 'Save a snapshot …' });

test('a refused question is asked again, though nothing on the page changes', async () => {
  const between = new Between();
  // The client does not repeat a request that is refused with 429.
  between.refusal = refusal('too-many-ui-requests', { limit: 1, kind: 'requests under way' });
  const page = await between.open();
  await expect.poll(() => act(page).getAttribute('aria-disabled')).toBe('true');
  await expect.poll(() => between.refused, { timeout: 10_000 }).toBeGreaterThan(1);
  between.refusal = undefined;
  await expect
    .poll(() => act(page).getAttribute('aria-disabled'), { timeout: 20_000 })
    .not.toBe('true');
});

test('questions that were all refused without a leader are asked as soon as a server leads', async () => {
  const between = new Between();
  between.knownLeader = false;
  const page = await between.open();
  await expect
    .poll(() => act(page).getAttribute('title'))
    .toBe('No server leads, so nobody can tell whether the token may do this');
  // The pause before the next attempt grows with each.
  await expect.poll(() => between.refused, { timeout: 30_000 }).toBeGreaterThan(0);
  between.refusal = undefined;
  between.knownLeader = true;
  between.beat();
  await expect.poll(() => act(page).getAttribute('aria-disabled')).not.toBe('true');
});
