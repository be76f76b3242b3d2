import { expect } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { JobPlan } from '../../src/model/job-plan/job-plan.ts';
import { jobBody, type TestApi } from './api.ts';
import type { Fleet } from './fleet.ts';

export type PlanChanges = readonly [job?: object, group?: object, task?: object];

/** Plans and registrations of a job on a fleet. */
export function plansOf(world: () => { readonly api: TestApi; readonly fleet: Fleet }) {
  /** Plans are computed in slices, between which time has to pass. */
  async function call(method: string, url: string, body: object, token?: string) {
    const { api } = world();
    const calling = api.call(method, url, { body, ...(token !== undefined && { token }) });
    await api.settle();
    return calling;
  }

  async function plan(changes: PlanChanges = [], more: object = {}): Promise<JobPlan> {
    const body = { ...jobBody(...changes), Diff: true, ...more };
    const { status, json, text } = await call('POST', `/v1/job/${body.Job.ID}/plan`, body);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    return json;
  }

  async function run(changes: PlanChanges = [], more: object = {}) {
    const body = { ...jobBody(...changes), ...more };
    const { status, json, text } = await call('POST', '/v1/jobs', body);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    await world().fleet.obey();
    return json;
  }

  const allocations = async (job = 'web'): Promise<Allocation[]> =>
    (await world().api.call('GET', `/v1/job/${job}/allocations`)).json;

  return { call, plan, run, allocations };
}

/** The resources of a node with this CPU. */
export const sized = (CpuShares: number) => ({
  NodeResources: {
    Cpu: { CpuShares, TotalCpuCores: 2 },
    Memory: { MemoryMB: 8192 },
    Disk: { DiskMB: 100_000 },
    Networks: [{ Mode: 'host', Device: 'lo', IP: '127.0.0.1' }],
  },
});

/** The changes of a plan, as `ACTION NAME NODE`. */
export const changesOf = ({ Changes }: JobPlan) =>
  Changes.map(({ Action, Name, NodeName }) => `${Action} ${Name} ${NodeName}`);

/** An update of all allocations at once. */
export const atOnce = { Update: { MaxParallel: 0 } };

export const noUpdates = {
  Ignore: 0,
  Place: 0,
  Migrate: 0,
  Stop: 0,
  InPlaceUpdate: 0,
  DestructiveUpdate: 0,
  Canary: 0,
  Preemptions: 0,
  Disconnect: 0,
  Reconnect: 0,
  RescheduleNow: 0,
  RescheduleLater: 0,
};
