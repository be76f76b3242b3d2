/** Allocations of real processes, and their pages. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Agent } from './agent.ts';
import type { TestBrowser } from './browser.ts';
import { openUi, signIn } from './ui.ts';

export interface TaskOf {
  readonly name?: string;
  readonly script: string;
  readonly more?: object;
}

export interface JobOf {
  readonly id: string;
  readonly tasks: readonly TaskOf[];
  /** Further fields of its group. */
  readonly more?: object;
  /** Further fields of the job itself. */
  readonly job?: object;
}

/** Registers a job and resolves with the id of its allocation when it runs. */
export async function runAllocation(
  agent: Agent,
  { id, tasks, more, job }: JobOf,
): Promise<string> {
  await agent.register({
    ID: id,
    Type: 'service',
    ...job,
    TaskGroups: [
      {
        Name: 'main',
        EphemeralDisk: { SizeMB: 300 },
        ...more,
        Tasks: tasks.map((task) => ({
          Name: task.name ?? 'app',
          Driver: 'raw_exec',
          Config: { command: '/bin/sh', args: ['-c', task.script] },
          Resources: { CPU: 20, MemoryMB: 16 },
          ...task.more,
        })),
      },
    ],
  });
  return agent.until(
    `/v1/job/${id}/allocations`,
    (found: { ID: string; ClientStatus: string }[]) => {
      expect(found.map(({ ClientStatus }) => ClientStatus)).toEqual(['running']);
      return found[0]!.ID;
    },
  );
}

export interface PageOf {
  readonly agent: Agent;
  readonly id: string;
  readonly tab?: string;
  readonly token?: string;
}

export async function openAllocation(browser: TestBrowser, about: PageOf): Promise<Page> {
  const { agent, id, tab, token = agent.token } = about;
  const query = tab === undefined ? '' : `?tab=${tab}`;
  const page = await openUi(browser, { address: agent.address, path: `allocations/${id}${query}` });
  await signIn(page, token);
  return page;
}

export const goToTab = (page: Page, name: string): Promise<void> =>
  page.getByRole('tab', { name }).click();
