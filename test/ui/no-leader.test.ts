/** The web interface of three servers over etcd, a majority of which is away: no server leads. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { type Agent, endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { EtcdCluster, etcdServer } from '../support/etcd.ts';
import { openUi, signIn } from '../support/ui.ts';

const nothingChanges = 'No server leads, so nothing can be changed for now.';
const mayBeBehind = 'may be behind: no server leads';
const away = [1, 2];
const patienceMs = 90_000;

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

  async function signedIn(path: string): Promise<Page> {
    const page = await openUi(browser, { address: agent.address, path, endsServer: true });
    await signIn(page, agent.token);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  test('pages say so, keep what they show and what was typed, and go on by themselves', async () => {
    // Both were opened while a server led, and nothing has changed since.
    const [job, typing] = await Promise.all([signedIn('jobs/default/web'), signedIn('namespaces')]);
    await job.getByText('0 of 1 running').waitFor();
    await typing.getByRole('button', { name: 'Create a namespace' }).click();
    const form = typing.getByRole('dialog', { name: 'Create a namespace' });
    await form.getByLabel('Name', { exact: true }).fill('payments');
    expect(await job.getByText(mayBeBehind).count()).toBe(0);

    for (const member of away) await cluster.kill(member);
    for (const page of [job, typing]) {
      // The leader leads until its lease ends.
      await page.getByText(nothingChanges).waitFor({ timeout: patienceMs });
      await page.getByText('No leader', { exact: true }).waitFor();
    }
    await job.getByText(mayBeBehind).waitFor();
    await job.getByText('0 of 1 running').waitFor();

    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await form.getByRole('button', { name: 'Waiting for a leader …' }).waitFor();
    // The client repeats it for a while.
    const refusal = form.getByText('There is no leader at the moment');
    await refusal.waitFor({ timeout: patienceMs });
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('payments');

    // A page that is opened now.
    const servers = await signedIn('servers');
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
    // The servers that were away are healthy again later.
    const mayNot = () => stepDown.getAttribute('aria-disabled');
    await expect.poll(mayNot, { timeout: patienceMs }).not.toBe('true');
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await typing.getByText('payments').first().waitFor();
    await form.waitFor({ state: 'detached' });
  }, 240_000);
});
