import { beforeEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import type {
  AllocationExplanation,
  JobProspect,
} from '../../src/model/explanation/explanation.ts';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';

// A full fleet, and jobs with higher priority than its allocations.

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

const second = 1000;
const get = async <T>(url: string): Promise<T> => (await api.call('GET', url)).json;

interface Shape {
  readonly Type?: string;
  readonly Count?: number;
}

async function submit(ID: string, Priority: number, CPU: number, { Type, Count }: Shape = {}) {
  const body = jobBody(
    { ID, Priority, ...(Type && { Type }) },
    {
      Update: { MaxParallel: 0 },
      ...(Type === 'system' && { ReschedulePolicy: null }),
      ...(Count && { Count }),
    },
    { Config: {}, Resources: { CPU, MemoryMB: 64 } },
  );
  const { status, text } = await api.call('POST', '/v1/jobs', { body });
  expect(status, text).toBe(200);
  await fleet.pass(second);
}

/** Enables preemption for service jobs. */
async function allow(ServiceSchedulerEnabled = true) {
  const body = { PreemptionConfig: { ServiceSchedulerEnabled } };
  await api.call('PUT', '/v1/operator/scheduler/configuration', { body });
  await fleet.pass(second);
}

const allocationsOf = (job: string) => get<Allocation[]>(`/v1/job/${job}/allocations`);
const evaluationsOf = (job: string) => get<Evaluation[]>(`/v1/job/${job}/evaluations`);
const runningOf = async (job: string) =>
  (await allocationsOf(job)).filter(
    (one) => one.DesiredStatus === 'run' && one.ClientStatus === 'running',
  );
const evictedOf = async (job: string) =>
  (await allocationsOf(job)).filter((one) => one.DesiredStatus === 'evict');
const queuedOf = async (job: string) => {
  const { Summary } = await get<{ Summary: { web: { Queued: number } } }>(`/v1/job/${job}/summary`);
  return Summary.web.Queued;
};

// Nodes have 4000 MHz.
describe('a system job on a full fleet', () => {
  beforeEach(async () => {
    await fleet.join(3);
    await submit('batch', 20, 3900, { Type: 'service', Count: 3 });
    expect(await runningOf('batch')).toHaveLength(3);
  });

  test('is placed on every node, and both sides of each eviction show it', async () => {
    await submit('agent', 80, 500, { Type: 'system' });
    const placed = await runningOf('agent');
    expect(new Set(placed.map(({ NodeID }) => NodeID)).size).toBe(3);
    const evicted = await evictedOf('batch');
    expect(evicted).toHaveLength(3);
    for (const { ID } of placed) {
      const one = await get<Allocation>(`/v1/allocation/${ID}`);
      const [victim] = one.PreemptedAllocations!;
      expect(one.PreemptedAllocations).toHaveLength(1);
      expect(await get<Allocation>(`/v1/allocation/${victim}`)).toMatchObject({
        DesiredStatus: 'evict',
        ClientStatus: 'complete',
        NodeID: one.NodeID,
        DesiredDescription: `Preempted by alloc ID ${ID}`,
        PreemptedByAllocation: ID,
      });
      expect(one.Metrics!.ScoreMetaData![0]!.Scores.preemption).toBeGreaterThan(0.99);
    }
  });

  test('evicts allocations that are evaluated once, and placed again when there is room', async () => {
    await submit('agent', 80, 500, { Type: 'system' });
    const triggers = (await evaluationsOf('batch')).map(({ TriggeredBy }) => TriggeredBy);
    expect(triggers.filter((one) => one === 'preemption')).toHaveLength(1);
    expect(await runningOf('batch')).toEqual([]);
    expect(await queuedOf('batch')).toBe(3);
    expect((await get<{ Status: string }>('/v1/job/batch')).Status).toBe('pending');
    await fleet.join(1);
    await fleet.pass(second);
    // The system job came to the new node as well. Once it is smaller, both fit.
    expect([await runningOf('agent'), await runningOf('batch')]).toMatchObject([{ length: 4 }, []]);
    await submit('agent', 80, 50, { Type: 'system' });
    await fleet.pass(5 * second);
    expect(await runningOf('batch')).toHaveLength(3);
    expect(await runningOf('agent')).toHaveLength(4);
    expect(await queuedOf('batch')).toBe(0);
  });

  test('waits if no priority is lower by at least 10', async () => {
    await submit('agent', 29, 500, { Type: 'system' });
    expect([await evictedOf('batch'), await queuedOf('agent')]).toEqual([[], 3]);
  });

  test('waits if preemption is disabled', async () => {
    const body = { PreemptionConfig: { SystemSchedulerEnabled: false } };
    await api.call('PUT', '/v1/operator/scheduler/configuration', { body });
    await submit('agent', 80, 500, { Type: 'system' });
    expect([await evictedOf('batch'), await queuedOf('agent')]).toEqual([[], 3]);
  });
});

describe('a service', () => {
  beforeEach(async () => {
    await fleet.join(1);
    await submit('low', 20, 1900, { Count: 2 });
  });

  test('waits unless preemption is enabled, and is placed as soon as it is', async () => {
    await submit('web', 80, 1500);
    expect([await evictedOf('low'), await queuedOf('web')]).toEqual([[], 1]);
    await allow();
    expect(await runningOf('web')).toHaveLength(1);
    expect(await evictedOf('low')).toHaveLength(1);
    expect(await queuedOf('low')).toBe(1);
  });

  test('makes room for the evicted allocations when it is stopped', async () => {
    await allow();
    await submit('web', 80, 1500);
    expect(await runningOf('low')).toHaveLength(1);
    await api.call('DELETE', '/v1/job/web');
    await fleet.pass(2 * second);
    expect((await runningOf('low')).map(({ Name }) => Name).sort()).toEqual([
      'low.web[0]',
      'low.web[1]',
    ]);
  });

  test('is not started before the evicted allocation has ended', async () => {
    await allow();
    const body = jobBody(
      { ID: 'web', Priority: 80 },
      { Update: { MaxParallel: 0 } },
      { Resources: { CPU: 1500, MemoryMB: 64 } },
    );
    await api.call('POST', '/v1/jobs', { body });
    await api.settle();
    const [evicted] = await evictedOf('low');
    const [placed] = await allocationsOf('web');
    expect([evicted!.ClientStatus, placed!.ClientStatus]).toEqual(['running', 'pending']);
    // The node gets both at once and starts the one when the other has ended.
    const { NodeID } = placed!;
    const token = `${NodeID.slice(0, -1)}f`;
    const { json } = await api.call('GET', `/v1/node/${NodeID}/assignments`, { token });
    const told = (json as { Allocation: Allocation }[]).map(({ Allocation }) => Allocation);
    expect(told.find(({ ID }) => ID === evicted!.ID)?.DesiredStatus).toBe('evict');
    expect(told.find(({ ID }) => ID === placed!.ID)?.PreemptedAllocations).toEqual([evicted!.ID]);
  });

  test('is placed when an ending allocation and evictions together make enough room', async () => {
    await allow();
    await submit('equal', 75, 100);
    await submit('web', 80, 3950);
    expect([await evictedOf('low'), await queuedOf('web')]).toEqual([[], 1]);
    await api.call('DELETE', '/v1/job/equal');
    await fleet.pass(2 * second);
    expect(await evictedOf('low')).toHaveLength(2);
    expect(await runningOf('web')).toHaveLength(1);
  });

  test('is placed when the priority of another job decreases', async () => {
    await allow();
    await submit('equal', 75, 100);
    await submit('web', 80, 3950);
    await submit('equal', 30, 100);
    expect(await runningOf('web')).toHaveLength(1);
    expect(await evictedOf('equal')).toHaveLength(1);
  });

  test('shares the room of an eviction with the next service', async () => {
    await allow();
    for (const n of [1, 2, 3]) {
      await api.call('POST', '/v1/jobs', {
        body: jobBody(
          { ID: `web${n}`, Priority: 80 },
          { Update: { MaxParallel: 0 } },
          { Config: {}, Resources: { CPU: 600, MemoryMB: 64 } },
        ),
      });
    }
    await api.settle();
    expect(await evictedOf('low')).toHaveLength(1);
    await fleet.pass(second);
    for (const n of [1, 2, 3]) expect(await runningOf(`web${n}`)).toHaveLength(1);
  });
});

describe('explanations', () => {
  const why = async (url: string) => {
    const calling = api.call('GET', url);
    await api.settle();
    return (await calling).json;
  };

  test('cover both sides of the decision', async () => {
    await fleet.join(2);
    await submit('low', 20, 3900);
    await submit('less', 10, 3900);
    await allow();
    await submit('web', 80, 1500);
    const [placed] = await runningOf('web');
    const [evicted] = await evictedOf('less');
    const told: AllocationExplanation = await why(`/v1/allocation/${placed!.ID}/why`);
    const { best, other } = { best: told.Nodes[0]!, other: told.Nodes[1]! };
    expect(told).toMatchObject({
      Basis: 'decision',
      Manner: 'preemption',
      Evicted: [evicted!.ID],
      NormScore: best.Preemption!.NormScore,
      RunnerUp: { NodeID: other.NodeID, NormScore: other.Preemption!.NormScore },
      Counts: { open: 0, exhausted: 2 },
    });
    expect(told.Margin).toBeGreaterThan(0);
    expect(best).toMatchObject({
      NodeID: placed!.NodeID,
      Verdict: 'exhausted',
      NormScore: null,
      Preemption: { Evicts: 1, Scores: { binpack: expect.any(Number) } },
    });
    const { Groups } = (await why('/v1/job/web/why-not?group=web')) as JobProspect;
    expect(Groups[0]!.Summary).toMatch(
      /^Nothing of the group "web" waits for a node. One more would go to node n[12]/,
    );
  });

  test('say whether an eviction is possible', async () => {
    await fleet.join(1);
    await submit('equal', 75, 3900);
    await allow();
    await submit('web', 80, 1500);
    const { Groups } = (await why('/v1/job/web/why-not')) as JobProspect;
    expect(Groups[0]!.Nodes).toMatchObject([{ Verdict: 'exhausted', Preemption: null }]);
    await submit('more', 90, 100);
    const { Groups: others } = (await why('/v1/job/more/why-not?group=web')) as JobProspect;
    expect(others[0]!.Summary).toBe(
      'Nothing of the group "web" waits for a node. One more would go to node n1, where 1 allocation of lower priority would make way.',
    );
  });
});

describe('devices', () => {
  const NodeResources = {
    ...nodeBody().Node.NodeResources,
    Devices: [
      {
        Vendor: 'acme',
        Type: 'gpu',
        Name: 'a100',
        Attributes: { memory: { Int: 40, Unit: 'GiB' } },
        Instances: ['g1', 'g2'].map((ID) => ({
          ID,
          Healthy: true,
          Locality: { PciBusID: `0000:0${ID.slice(1)}:00.0` },
        })),
      },
    ],
  };
  const wanting = (ID: string, Priority: number, Count = 1) =>
    jobBody(
      { ID, Priority },
      { Update: { MaxParallel: 0 } },
      {
        Config: {},
        Resources: {
          CPU: 100,
          MemoryMB: 64,
          Devices: [
            {
              Name: 'acme/gpu',
              Count,
              Constraints: [{ LTarget: '${device.attr.memory}', Operand: '>=', RTarget: '32 GiB' }],
            },
          ],
        },
      },
    );
  const post = async (body: object) => {
    const { status, text } = await api.call('POST', '/v1/jobs', { body });
    expect(status, text).toBe(200);
    await fleet.pass(second);
  };
  test('are reported, assigned once, and taken from lower priorities', async () => {
    await fleet.join(1);
    await post(wanting('low', 20));
    expect((await evaluationsOf('low'))[0]!.FailedTGAllocs!.web!.ConstraintFiltered).toEqual({
      'missing devices': 1,
    });
    await fleet.join(1, { NodeResources });
    await fleet.pass(second);
    const [node] = (await get<{ ID: string; Name: string }[]>('/v1/nodes')).filter(
      ({ Name }) => Name === 'n2',
    );
    expect(await get(`/v1/node/${node!.ID}`)).toMatchObject({ NodeResources });
    await post(wanting('other', 50));
    const pieces = [];
    for (const job of ['low', 'other']) {
      const [one] = await runningOf(job);
      const { AllocatedResources } = await get<Allocation>(`/v1/allocation/${one!.ID}`);
      const { Devices } = AllocatedResources.Tasks.server!;
      expect(Devices).toMatchObject([{ Vendor: 'acme', Type: 'gpu', Name: 'a100' }]);
      pieces.push(...Devices![0]!.DeviceIDs);
    }
    expect(pieces).toEqual(['g1', 'g2']);
    await allow();
    await post(wanting('important', 80));
    expect(await evictedOf('low')).toHaveLength(1);
    expect(await runningOf('important')).toHaveLength(1);
    expect(await runningOf('other')).toHaveLength(1);
    await post(wanting('greedy', 80, 3));
    expect((await evaluationsOf('greedy'))[0]!.FailedTGAllocs!.web!.ConstraintFiltered).toEqual({
      'missing devices': 2,
    });
  });
});
