/** Decisions of the scheduler in a browser, between nodes on which nothing runs. */
import { expect, test } from 'vitest';
import { nodeBody } from '../support/api.ts';
import { sleepingJob } from '../support/job-pages.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

/** Registers a node of a datacenter that takes processes. */
async function addNode(number: number, changes: { Name: string; Datacenter: string }, cpu: number) {
  const digits = String(number).repeat(4);
  const id = `${digits}${digits}-${digits}-4${digits.slice(1)}-8${digits.slice(1)}-${digits.repeat(3)}`;
  const { Node } = nodeBody({ ID: id, ...changes });
  const SecretID = `${id.slice(0, -1)}f`;
  const drivers = { Drivers: { raw_exec: { Detected: true, Healthy: true } } };
  const NodeResources = { ...Node.NodeResources, Cpu: { CpuShares: cpu, TotalCpuCores: 1 } };
  await ui.made('node/register', { SecretID, Node: { ...Node, ...drivers, NodeResources } });
}

/** Registers a job in the datacenter. Resolves with its first allocation once there is one. */
async function placed(id: string, changes: object): Promise<string> {
  await ui.made('jobs', { Job: sleepingJob(id, changes) });
  const ids = async () => {
    const list = await ui.answer<{ ID: string }[]>('GET', `job/${id}/allocations`);
    return list.map(({ ID }) => ID);
  };
  await expect.poll(ids).toHaveLength(1);
  return (await ids())[0]!;
}

test('"why here" of an allocation names the best other node', async () => {
  await addNode(5, { Name: 'tight', Datacenter: 'pair' }, 500);
  await addNode(6, { Name: 'roomy', Datacenter: 'pair' }, 8000);
  const id = await placed('compared', { Datacenters: ['pair'] });
  const page = await ui.signedIn(`allocations/${id}?tab=why`);
  const why = page.getByRole('region', { name: 'Why this node' });
  await why.getByText(/was chosen/).waitFor();
  const [chosen, other] = await why.locator('.sentence a').allInnerTexts();
  expect([chosen, other].toSorted()).toEqual(['roomy', 'tight']);
  const told = (await why.locator('.sentence').textContent())!.replaceAll(/\s+/g, ' ');
  expect(told).toMatch(
    /was chosen .*with a score of [\d.]+ .*The best other node is \w+ with [\d.]+, [\d.]+ behind\./,
  );
  await why.getByRole('link', { name: other! }).click();
  await page.getByRole('heading', { level: 1, name: other! }).waitFor();
});

test('a plan tells which allocations it evicts', async () => {
  await addNode(7, { Name: 'full', Datacenter: 'single' }, 1000);
  await ui.made('operator/scheduler/configuration', {
    PreemptionConfig: { ServiceSchedulerEnabled: true },
  });
  const where = { Datacenters: ['single'] };
  const task = {
    Name: 'run',
    Driver: 'raw_exec',
    Config: { command: '/bin/true' },
    Resources: { CPU: 800, MemoryMB: 10 },
  };
  const TaskGroups = [{ Name: 'main', Count: 1, Tasks: [task] }];
  const victim = await placed('humble', { ...where, Priority: 10, TaskGroups });
  const page = await ui.signedIn('plan');
  const file = `job "urgent" {
  datacenters = ["single"]
  priority    = 90
  group "main" {
    task "run" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      resources {
        cpu    = 800
        memory = 10
      }
    }
  }
}
`;
  await page.getByRole('textbox', { name: 'Job file' }).fill(file);
  await page.getByText('No faults').waitFor();
  await page.keyboard.press('Control+Enter');
  const plan = page.getByRole('region', { name: 'The plan' });
  await plan.getByText('1 to place').waitFor();
  await plan.getByText('1 to evict').waitFor();
  const row = plan.getByRole('row').filter({ hasText: victim.slice(0, 8) });
  await row.getByText('Evict').waitFor();
});
