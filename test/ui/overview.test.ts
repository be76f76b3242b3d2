import { expect, test } from 'vitest';
import { violations } from '../support/accessibility.ts';
import { signIn } from '../support/ui.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

const job = (ID: string, changes: object = {}, task: object = {}) => ({
  ID,
  Type: 'service',
  TaskGroups: [
    {
      Name: 'main',
      Count: 1,
      Tasks: [
        {
          Name: 'run',
          Driver: 'raw_exec',
          Config: { command: '/bin/sleep', args: ['3600'] },
          Resources: { CPU: 20, MemoryMB: 10 },
          ...task,
        },
      ],
    },
  ],
  ...changes,
});
const tooLarge = { Resources: { CPU: 20, MemoryMB: 90_000_000 } };
const odd = '\u202eodd\u0007<img src=x onerror=alert(1)>';

test('without jobs it says how to begin, then what needs attention and why, and then that all is well', async () => {
  const page = await ui.signedIn();
  await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  await page.getByText('roster job run examples/web.json').waitFor();
  await ui.agent.register(job('odd', { Name: odd }, tooLarge));
  await page.getByText(/things? needs? attention/).waitFor();
  const critical = page.getByRole('region', { name: /^Critical/ });
  await critical.getByText('Fewer allocations run than are wanted').waitFor();
  const shown = await critical.getByRole('listitem').textContent();
  expect(shown).toContain('\\u202eodd\\u0007<img src=x onerror=alert(1)>');
  const warnings = page.getByRole('region', { name: /^Warnings/ });
  await warnings.getByText(/1 node has too little memory left/).waitFor();
  // Only a kind, which stands in the address.
  await page.getByRole('button', { name: 'Waits for room 1' }).click();
  await critical.waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('kind')).toBe('evaluation-blocked');
  await ui.agent.register(job('odd', { Name: odd }));
  await page.getByText('All is well').waitFor();
  await page.getByText('1 job, 1 allocation running, 1 node ready').waitFor();
  expect(await violations(page)).toEqual([]);
});

test('numbers of another namespace are not counted in', async () => {
  await ui.agent.request('PUT', '/v1/namespace/team', { Name: 'team' });
  await ui.agent.register(job('large', { Namespace: 'team' }, tooLarge));
  const page = await ui.signedIn();
  await page.locator('[data-count=jobs]').getByText('2', { exact: true }).waitFor();
  await page.goto(`${ui.agent.address}/ui/?namespace=default`);
  await signIn(page, ui.agent.token);
  await page.getByText('All is well in the namespace default').waitFor();
  await page.locator('[data-count=jobs]').getByText('1', { exact: true }).waitFor();
  await ui.agent.request('DELETE', '/v1/job/large?namespace=team&purge=true');
});
