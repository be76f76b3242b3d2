/** Two stories through the browser alone, with real processes: a canary that fails and goes back, and a blocked job. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { button, sees } from '../support/job-pages.ts';
import { UiTests } from '../support/ui-tests.ts';

const ui = new UiTests();

const editor = (page: Page): Locator => page.getByRole('textbox', { name: 'Job file' });

/** Plans the text in the editor, sees the summary, and applies the plan. */
async function planned(page: Page, text: string, summary: string | RegExp): Promise<void> {
  await editor(page).fill(text);
  await sees(page, 'No faults');
  await button(page, 'Plan').click();
  const plan = page.getByRole('region', { name: 'The plan' });
  await plan.getByText(summary).first().waitFor();
  await plan.getByRole('button', { name: 'Apply' }).click();
}

const panel = (page: Page, name: string | RegExp): Locator => page.getByRole('region', { name });

/** A service that is updated by canaries, and goes back by itself. */
const shop = (script: string) => `job "shop" {
  datacenters = ["*"]
  group "web" {
    count = 2
    update {
      canary           = 1
      max_parallel     = 1
      auto_revert      = true
      health_check     = "task_states"
      min_healthy_time = "100ms"
    }
    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }
    task "serve" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "${script}"]
      }
      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
`;

test('a canary fails with its reason, and the job goes back to the version that was stable', async () => {
  const page = await ui.signedIn('plan');
  await planned(page, shop('sleep 100000'), '2 to place');
  await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor();
  const latest = panel(page, 'Latest deployment');
  await latest.getByText('Successful', { exact: true }).waitFor();
  await latest.getByText('2 of 2 healthy').waitFor();

  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await expect.poll(() => editor(page).textContent()).toContain('sleep 100000');
  await planned(page, shop('exit 7'), /canar/);
  await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor();

  // The deployment that failed says which canary, why, and what became of it.
  const failed = panel(page, /of version 1$/);
  await failed.getByText(/rolling back to job version 0/).waitFor();
  await failed.getByText('0 of 1 canary healthy').waitFor();
  const reasons = failed.getByRole('list', { name: 'Unhealthy allocations' });
  await reasons.getByText(/^Task "serve": Exit Code: 7/).waitFor();
  await latest.getByText('version 2').waitFor();
  await latest.getByText('Successful', { exact: true }).waitFor();
  const groups = panel(page, 'Groups');
  await groups.getByText(/2 of 2 running/).waitFor();
  await latest.getByText('2 of 2 healthy').waitFor();

  // The counts of the pages are those of the processes.
  const all = await ui.answer<readonly Listed[]>('GET', 'job/shop/allocations');
  const count = (status: string) =>
    all.filter(({ ClientStatus }) => ClientStatus === status).length;
  expect([count('running'), count('failed')]).toEqual([2, 1]);
  await page.getByRole('tab', { name: /^Allocations/ }).click();
  await expect.poll(() => page.locator('tr.list-row').count()).toBe(3);
  await page.getByRole('tab', { name: 'Versions' }).click();
  await sees(page, 'Version 2');
  await page.getByRole('tab', { name: 'Definition' }).click();
  await expect
    .poll(() => panel(page, 'Source of version 2').textContent())
    .toContain('sleep 100000');

  // From the reason to the output of the canary.
  await page.getByRole('tab', { name: 'Overview' }).click();
  await reasons.getByRole('link', { name: /^Logs of/ }).click();
  await page.getByRole('heading', { level: 1, name: /^shop\.web/ }).waitFor();
});

interface Listed {
  readonly ClientStatus: string;
}

test('a blocked job says in words what it lacks, is put right in the editor, and runs', async () => {
  const big = (memory: number, rule: string) => `job "big" {
  datacenters = ["*"]
  group "main" {
    ${rule}
    task "run" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["100000"]
      }
      resources {
        cpu    = 20
        memory = ${memory}
      }
    }
  }
}
`;
  const rule = `constraint {
      attribute = "\${attr.kernel.name}"
      value     = "plan9"
    }`;
  const page = await ui.signedIn('plan');
  // The plan says it before, and the page of the job after.
  await planned(page, big(900_000, ''), /waits for a node|could not be placed/);
  await page.getByRole('heading', { level: 1, name: 'big' }).waitFor();
  const why = panel(page, 'Why it is not placed');
  await why
    .getByText(/memory: needs 900000 MB/)
    .first()
    .waitFor();
  await panel(page, 'Groups').getByText('1 waits for a node').waitFor();

  await why.getByRole('link', { name: 'Edit the job' }).click();
  await expect.poll(() => editor(page).textContent()).toContain('900000');
  await planned(page, big(16, rule), /waits for a node|could not be placed/);
  await why
    .getByText(/kernel\.name.*plan9/)
    .first()
    .waitFor();

  await why.getByRole('link', { name: 'Edit the job' }).click();
  await expect.poll(() => editor(page).textContent()).toContain('plan9');
  await planned(page, big(16, ''), '1 to place');
  await panel(page, 'Groups')
    .getByText(/1 of 1 running/)
    .waitFor();
  await why.waitFor({ state: 'detached' });
});
