/** Plans from outside: what registering a job would do, told without doing it. Source: spec/3 §4.7. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { JobPlan } from '../../src/model/job-plan/job-plan.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

/** Plans are made in slices, and time has to pass between them. */
async function call(method: string, url: string, body: object, token?: string) {
  const calling = api.call(method, url, { body, ...(token !== undefined && { token }) });
  await api.settle();
  return calling;
}

type Changes = readonly [job?: object, group?: object, task?: object];

async function plan(changes: Changes = [], more: object = {}): Promise<JobPlan> {
  const body = { ...jobBody(...changes), Diff: true, ...more };
  const { status, json, text } = await call('POST', `/v1/job/${body.Job.ID}/plan`, body);
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return json;
}

async function run(changes: Changes = [], more: object = {}) {
  const { status, json, text } = await call('POST', '/v1/jobs', { ...jobBody(...changes), ...more });
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  await fleet.obey();
  return json;
}

const allocations = async (job = 'web'): Promise<Allocation[]> =>
  (await api.call('GET', `/v1/job/${job}/allocations`)).json;

const none = {
  ...{ Ignore: 0, Place: 0, Migrate: 0, Stop: 0, InPlaceUpdate: 0, DestructiveUpdate: 0 },
  ...{ Canary: 0, Preemptions: 0, Disconnect: 0, Reconnect: 0, RescheduleNow: 0 },
  RescheduleLater: 0,
};
const sized = (CpuShares: number) => ({
  NodeResources: {
    Cpu: { CpuShares, TotalCpuCores: 2 },
    Memory: { MemoryMB: 8192 },
    Disk: { DiskMB: 100_000 },
    Networks: [{ Mode: 'host', Device: 'lo', IP: '127.0.0.1' }],
  },
});
const told = ({ Changes }: JobPlan) =>
  Changes.map(({ Action, Name, NodeName }) => `${Action} ${Name} ${NodeName}`);
/** All at once. */
const atOnce = { Update: { MaxParallel: 0 } };

describe('what a plan says', () => {
  test('of a new job', async () => {
    await fleet.join(2, sized(250));
    const index = api.state.read().index;
    const made = await plan([{}, { Count: 3, ...atOnce }]);
    expect(made).toMatchObject({
      PlanID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      Annotations: { DesiredTGUpdates: { web: { ...none, Place: 3 } }, PreemptedAllocs: null },
      ...{ FailedTGAllocs: null, CreatedEvals: null, JobModifyIndex: 0, Index: 0, Warnings: '' },
      ...{ NextPeriodicLaunch: '0001-01-01T00:00:00Z', ChangesHidden: 0 },
    });
    expect(told(made)).toEqual(['place web.web[0] n1', 'place web.web[1] n1', 'place web.web[2] n2']);
    expect(made.Diff).toMatchObject({
      ...{ Type: 'Added', ID: 'web' },
      TaskGroups: [
        {
          ...{ Type: 'Added', Name: 'web', Updates: { create: 3 } },
          Tasks: [{ Type: 'Added', Name: 'server', Annotations: ['forces create'] }],
        },
      ],
    });
    expect(made.Diff!.TaskGroups![0]!.Fields).toEqual([
      { Type: 'Added', Name: 'Count', Old: '', New: '3', Annotations: ['forces create'] },
    ]);
    // Nothing is written.
    expect(api.state.read().index).toBe(index);
    expect((await api.call('GET', '/v1/job/web')).status).toBe(404);
    expect((await api.call('GET', '/v1/evaluations')).json).toEqual([]);
  });
});
