/** The web interface of three servers over etcd, a majority of which is away: no server leads. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import type { ClientMessage, ServerMessage } from '../../src/model/ui-stream/messages.ts';
import { type Agent, endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { EtcdCluster, etcdServer } from '../support/etcd.ts';
import { openUi, signIn } from '../support/ui.ts';

const nothingChanges = 'No server leads, so nothing can be changed for now.';
const mayBeBehind = 'may be behind: no server leads';
const away = [1, 2];
const patienceMs = 90_000;
/** Shorter than a request waits for a leader. */
const atOnceMs = 5_000;

describe('while no server leads', needing(etcdServer), () => {
  let browser: TestBrowser;
  let cluster: EtcdCluster;
  let agent: Agent;

  const start = (number: number): Promise<Agent> => {
    const dataDirectory = newDirectory(`server-${number}`);
    const keyFile = join(dataDirectory, 'given-key');
    writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'));
    const config = join(dataDirectory, 'config.json');
    writeFileSync(config, JSON.stringify({ keyring: { root_key_file: keyFile } }));
    const endpoints = cluster.endpoints.join(',');
    const engine = ['--engine', 'etcd', '--etcd-endpoints', endpoints];
    return startAgent({ dataDirectory, args: [...engine, '--server-only', '--config', config] });
  };

  beforeAll(async () => {
    [browser, cluster] = await Promise.all([startBrowser(), EtcdCluster.start(3)]);
    [agent] = (await Promise.all([start(0), start(1), start(2)])) as [Agent, Agent, Agent];
    await eventually(async () => {
      const servers: readonly { readonly Leader: boolean }[] = await agent.get('/v1/servers');
      expect(servers.filter(({ Leader }) => Leader)).toHaveLength(1);
      expect(servers).toHaveLength(3);
    });
    await agent.register({
      ID: 'web',
      TaskGroups: [{ Name: 'main', Tasks: [{ Name: 'run', Driver: 'mock' }] }],
    });
  }, 90_000);

  afterAll(async () => {
    await browser?.close();
    await endAgents();
    await cluster?.stop();
  }, 60_000);

  async function signedIn(path: string, window?: BrowserContext): Promise<Page> {
    const about = { address: agent.address, path, endsServer: true };
    const page = await openUi(browser, window === undefined ? about : { ...about, window });
    await signIn(page, agent.token);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  test('pages say so, keep what they show and what was typed, and go on by themselves', async () => {
    // Both were opened while a server led, and nothing has changed since.
    const [job, typing] = await Promise.all([
      signedIn('jobs/default/web'),
      browser.window().then(async (window) => {
        await shortenRepeats(window);
        return signedIn('namespaces', window);
      }),
    ]);
    await job.getByText('0 of 1 running').waitFor();
    const { form, create, waiting, open } = formOn(typing);
    await open('unwanted');
    expect(await job.getByText(mayBeBehind).count()).toBe(0);

    for (const member of away) await cluster.kill(member);
    for (const page of [job, typing]) {
      // The leader leads until its lease ends.
      await page.getByText(nothingChanges).waitFor({ timeout: patienceMs });
      await page.getByText('No leader', { exact: true }).waitFor();
    }
    await job.getByText(mayBeBehind).waitFor();
    await job.getByText('0 of 1 running').waitFor();

    // A write that its reader does not want any longer.
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('unwanted');
    await create.click();
    await waiting.waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await form.waitFor({ state: 'detached' });
    const messages = typing.getByRole('log', { name: 'Messages' });
    await messages
      .getByText('The server has the request already: its answer is awaited.')
      .waitFor();

    // Pages that are opened now, and a write that waits for too long.
    const [servers] = await Promise.all([
      signedIn('servers'),
      signedIn('').then((overview) =>
        overview.getByText(mayBeBehind).waitFor({ timeout: atOnceMs }),
      ),
      messages.getByText('nothing was changed').waitFor(),
    ]);
    await open('payments');
    await create.click();
    await waiting.waitFor();
    await form.getByText('There is no leader at the moment').waitFor();
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('payments');
    await servers.getByText('No server leads: nothing can be written.').waitFor();
    const stepDown = servers.getByRole('button', { name: 'Step down …' });
    await expect
      .poll(() => stepDown.getAttribute('title'))
      .toBe('No server leads, so nobody can tell whether the token may do this');

    for (const member of away) cluster.run(member);
    for (const page of [job, typing, servers]) {
      await page.getByText(nothingChanges).waitFor({ state: 'detached' });
      await page.getByText('Live', { exact: true }).waitFor();
    }
    await job.getByText(mayBeBehind).waitFor({ state: 'detached' });
    await create.click();
    await typing.getByText('payments').first().waitFor();
    await form.waitFor({ state: 'detached' });
    expect(await typing.getByText('unwanted').count()).toBe(0);
    // The servers that were away are healthy again later.
    await expect.poll(() => stepDown.getAttribute('title'), { timeout: patienceMs }).toBeNull();
    expect(await stepDown.getAttribute('aria-disabled')).toBeNull();
  }, 240_000);
});

/** The form of a namespace. */
function formOn(page: Page) {
  const form = page.getByRole('dialog', { name: 'Create a namespace' });
  return {
    form,
    create: form.getByRole('button', { name: 'Create', exact: true }),
    waiting: form.getByRole('button', { name: 'Waiting for a leader …' }),
    open: async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Create a namespace' }).click();
      await form.getByLabel('Name', { exact: true }).fill(name);
    },
  };
}

/** The server refuses a write that waits for a leader; repeats of it get the same answer at once, not after as long. */
async function shortenRepeats(window: BrowserContext): Promise<void> {
  await window.routeWebSocket(/\/v1\/ui\/stream$/, (page) => {
    const server = page.connectToServer();
    const keys = new Map<number, string>();
    const refusals = new Map<string, Answer>();
    page.onMessage((text) => {
      const message = JSON.parse(String(text)) as ClientMessage;
      const key = message.kind === 'call' ? message.headers['idempotency-key'] : undefined;
      if (message.kind !== 'call' || key === undefined) return server.send(text);
      keys.set(message.id, key);
      const refusal = refusals.get(key);
      if (refusal === undefined) server.send(text);
      else page.send(JSON.stringify({ ...refusal, id: message.id }));
    });
    server.onMessage((text) => {
      const message = typeof text === 'string' ? (JSON.parse(text) as ServerMessage) : undefined;
      if (message?.kind === 'answer' && message.status === 503) {
        refusals.set(keys.get(message.id) ?? '', message);
      }
      page.send(text);
    });
  });
}

type Answer = ServerMessage & { readonly kind: 'answer' };
