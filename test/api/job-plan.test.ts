/** Plans over HTTP: the effects of a registration, without registering. */
import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';
import { atOnce, changesOf, noUpdates, plansOf, sized } from '../support/plans.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

const { call, plan, run } = plansOf(() => ({ api, fleet }));

describe('a plan', () => {
  test('of a new job', async () => {
    await fleet.join(2, sized(250));
    const index = api.state.read().index;
    const made = await plan([{}, { Count: 3, ...atOnce }]);
    expect(made).toMatchObject({
      PlanID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      Annotations: { DesiredTGUpdates: { web: { ...noUpdates, Place: 3 } }, PreemptedAllocs: null },
      FailedTGAllocs: null,
      CreatedEvals: null,
      JobModifyIndex: 0,
      Index: 0,
      Warnings: '',
      NextPeriodicLaunch: '0001-01-01T00:00:00Z',
      ChangesHidden: 0,
    });
    expect(changesOf(made)).toEqual([
      'place web.web[0] n1',
      'place web.web[1] n2',
      'place web.web[2] n1',
    ]);
    expect(made.Diff).toMatchObject({
      Type: 'Added',
      ID: 'web',
      TaskGroups: [
        {
          Type: 'Added',
          Name: 'web',
          Updates: { create: 3 },
          Tasks: [{ Type: 'Added', Name: 'server', Annotations: ['forces create'] }],
        },
      ],
    });
    expect(made.Diff!.TaskGroups![0]!.Fields).toEqual([
      { Type: 'Added', Name: 'Count', Old: '', New: '3', Annotations: ['forces create'] },
    ]);
    // Nothing is written but the plan itself.
    expect(api.state.read().index).toBe(index + 1);
    expect((await api.call('GET', '/v1/job/web')).status).toBe(404);
    expect((await api.call('GET', '/v1/evaluations')).json).toEqual([]);
  });

  test('of an unchanged job', async () => {
    await fleet.join(1);
    const { JobModifyIndex } = await run([{}, { Count: 2, ...atOnce }]);
    const made = await plan([{}, { Count: 2, ...atOnce }]);
    expect(made).toMatchObject({
      Annotations: { DesiredTGUpdates: { web: { ...noUpdates, Ignore: 2 } } },
      JobModifyIndex,
      Index: JobModifyIndex,
      Changes: [],
      FailedTGAllocs: null,
      Diff: {
        Type: 'None',
        Fields: null,
        Objects: null,
        TaskGroups: [
          {
            Type: 'None',
            Fields: null,
            Objects: null,
            Updates: { ignore: 2 },
            Tasks: [{ Type: 'None', Fields: null, Objects: null, Annotations: null }],
          },
        ],
      },
    });
  });

  test('of an in-place update', async () => {
    await fleet.join(1);
    await run([{}, { Count: 2, ...atOnce }]);
    const made = await plan([{}, { Count: 2, ...atOnce }, { KillTimeout: '9s' }]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({ web: { ...noUpdates, InPlaceUpdate: 2 } });
    expect(changesOf(made)).toEqual(['update web.web[0] n1', 'update web.web[1] n1']);
    expect(made.Diff).toMatchObject({
      Type: 'Edited',
      TaskGroups: [
        {
          Updates: { 'in-place update': 2 },
          Tasks: [
            {
              Fields: [
                { Type: 'Edited', Name: 'KillTimeout', Old: '5000000000', New: '9000000000' },
              ],
              Annotations: ['forces in-place update'],
            },
          ],
        },
      ],
    });
  });

  test('of a replacement, all at once and step by step', async () => {
    await fleet.join(1);
    await run([{}, { Count: 3, ...atOnce }]);
    const all = await plan([{}, { Count: 3, ...atOnce }, { Env: { A: 'b' } }]);
    expect(all.Annotations.DesiredTGUpdates).toEqual({
      web: { ...noUpdates, DestructiveUpdate: 3 },
    });
    expect(changesOf(all)).toEqual(
      [0, 1, 2].flatMap((n) => [`place web.web[${n}] n1`, `stop web.web[${n}] n1`]),
    );
    expect(all.Changes[0]!.PreviousAllocation).toBe(all.Changes[1]!.AllocID);
    expect(all.Diff!.TaskGroups![0]).toMatchObject({
      Updates: { 'create/destroy update': 3 },
      Tasks: [
        {
          Fields: [{ Type: 'Added', Name: 'Env[A]', Old: '', New: 'b' }],
          Annotations: ['forces create/destroy update'],
        },
      ],
    });
    const steps = await plan([{}, { Count: 3, Update: { MaxParallel: 1 } }, { Env: { A: 'b' } }]);
    expect(steps.Annotations.DesiredTGUpdates).toEqual({
      web: { ...noUpdates, DestructiveUpdate: 1, Ignore: 2 },
    });
    expect(changesOf(steps)).toEqual(['place web.web[0] n1', 'stop web.web[0] n1']);
  });

  test("of a change of the job's meta, which its tasks contain too", async () => {
    await fleet.join(1);
    await run([{}, atOnce]);
    const made = await plan([{ Meta: { a: 'b' } }, atOnce]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({
      web: { ...noUpdates, DestructiveUpdate: 1 },
    });
    expect(made.Diff).toMatchObject({
      Fields: [{ Type: 'Added', Name: 'Meta[a]', New: 'b' }],
      TaskGroups: [
        { Type: 'None', Tasks: [{ Type: 'None', Annotations: ['forces create/destroy update'] }] },
      ],
    });
  });

  test.each([
    [4, { Place: 2, Ignore: 2 }, 'forces create', { create: 2, ignore: 2 }],
    [1, { Stop: 1, Ignore: 1 }, 'forces destroy', { destroy: 1, ignore: 1 }],
    [0, { Stop: 2 }, 'forces destroy', { destroy: 2 }],
  ])('of a count of %i instead of 2', async (Count, updates, annotation, words) => {
    await fleet.join(1);
    await run([{}, { Count: 2, ...atOnce }]);
    const made = await plan([{}, { Count, ...atOnce }]);
    // Unchanged allocations are updated to the version.
    const desired = made.Annotations.DesiredTGUpdates.web!;
    const { Ignore, InPlaceUpdate } = desired;
    expect({ ...desired, Ignore: Ignore + InPlaceUpdate, InPlaceUpdate: 0 }).toEqual({
      ...noUpdates,
      ...updates,
    });
    const [group] = made.Diff!.TaskGroups!;
    expect(group!.Fields).toEqual([
      { Type: 'Edited', Name: 'Count', Old: '2', New: String(Count), Annotations: [annotation] },
    ]);
    const {
      ignore = 0,
      'in-place update': inPlace = 0,
      ...others
    } = group!.Updates as Record<string, number>;
    expect({ ...others, ...(ignore + inPlace > 0 && { ignore: ignore + inPlace }) }).toEqual(words);
  });

  test('of canaries', async () => {
    await fleet.join(1);
    const canaries = { Count: 2, Update: { MaxParallel: 1, Canary: 1 } };
    await run([{}, canaries]);
    await fleet.pass(20_000);
    const made = await plan([{}, canaries, { Env: { A: 'b' } }]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({
      web: { ...noUpdates, Canary: 1, Ignore: 2 },
    });
    expect(made.Changes).toMatchObject([{ Action: 'place', Name: 'web.web[0]', Canary: true }]);
    expect(made.Diff!.TaskGroups![0]!.Updates).toEqual({ canary: 1, ignore: 2 });
  });

  test('without a fitting node has the metrics', async () => {
    await fleet.join(1, sized(150));
    const made = await plan([{}, { Count: 3, ...atOnce }]);
    expect(changesOf(made)).toEqual(['place web.web[0] n1']);
    expect(made.FailedTGAllocs).toMatchObject({
      web: {
        NodesEvaluated: 1,
        NodesFiltered: 0,
        NodesExhausted: 1,
        NodesInPool: 1,
        NodesAvailable: { dc1: 1 },
        DimensionExhausted: { cpu: 1 },
        CoalescedFailures: 1,
      },
    });
    expect(made.CreatedEvals).toMatchObject([
      { Status: 'blocked', JobID: 'web', TriggeredBy: 'queued-allocs', CreateIndex: 0 },
    ]);
    const filtered = await plan([
      { Constraints: [{ LTarget: '${attr.kernel.name}', Operand: '=', RTarget: 'plan9' }] },
    ]);
    expect(filtered.FailedTGAllocs).toMatchObject({
      web: { NodesFiltered: 1, ConstraintFiltered: { '${attr.kernel.name} = plan9': 1 } },
    });
  });

  test('of a system job', async () => {
    await fleet.join(3);
    const made = await plan([{ Type: 'system' }]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({ web: { ...noUpdates, Place: 3 } });
    expect(changesOf(made)).toEqual([1, 2, 3].map((n) => `place web.web[0] n${n}`));
  });

  test('of a stopped job, and of a job to be stopped', async () => {
    await fleet.join(1);
    await run([{}, atOnce]);
    const stop = await plan([{ Stop: true }, atOnce]);
    expect(stop.Annotations.DesiredTGUpdates).toEqual({ web: { ...noUpdates, Stop: 1 } });
    await api.call('DELETE', '/v1/job/web');
    await fleet.obey();
    const again = await plan([{}, atOnce]);
    expect(again.Annotations.DesiredTGUpdates).toEqual({ web: { ...noUpdates, Place: 1 } });
    expect(again.Diff!.Fields).toEqual([
      { Type: 'Edited', Name: 'Stop', Old: 'true', New: 'false', Annotations: null },
    ]);
  });

  test('of a new and a removed group', async () => {
    await fleet.join(1);
    await run([{}, atOnce]);
    const made = await plan([{}, { ...atOnce, Name: 'api' }]);
    expect(made.Annotations.DesiredTGUpdates).toEqual({
      api: { ...noUpdates, Place: 1 },
      web: { ...noUpdates, Stop: 1 },
    });
    expect(made.Diff!.TaskGroups).toMatchObject([
      {
        Type: 'Added',
        Name: 'api',
        Updates: { create: 1 },
        Tasks: [{ Annotations: ['forces create'] }],
      },
      {
        Type: 'Deleted',
        Name: 'web',
        Updates: { destroy: 1 },
        Tasks: [{ Annotations: ['forces destroy'] }],
      },
    ]);
  });

  test('with evictions shows those that the caller may see', async () => {
    await fleet.join(1, sized(100));
    await api.call('PUT', '/v1/namespace/other', { body: { Name: 'other' } });
    const { status } = await call(
      'POST',
      '/v1/jobs',
      jobBody({ ID: 'low', Namespace: 'other', Priority: 10 }),
    );
    expect(status).toBe(200);
    await fleet.obey();
    const made = await plan([{ Type: 'system', Priority: 90 }]);
    expect(changesOf(made)).toEqual(['place web.web[0] n1', 'evict low.web[0] n1']);
    expect(made.Annotations).toMatchObject({
      DesiredTGUpdates: { web: { Place: 1, Preemptions: 1 } },
      PreemptedAllocs: [{ JobID: 'low', Namespace: 'other', Name: 'low.web[0]' }],
    });
    const Rules = 'namespace "default" { capabilities = ["submit-job"] }';
    await api.call('PUT', '/v1/acl/policy', { body: { Name: 'p', Rules } });
    const { json } = await api.call('PUT', '/v1/acl/token', {
      body: { Policies: [{ Name: 'p' }] },
    });
    const body = jobBody({ Type: 'system', Priority: 90 });
    const seen = (await call('POST', '/v1/job/web/plan', body, json.SecretID)).json;
    expect(changesOf(seen)).toEqual(['place web.web[0] n1']);
    expect(seen).toMatchObject({
      Diff: null,
      ChangesHidden: 1,
      Annotations: { DesiredTGUpdates: { web: { Preemptions: 1 } }, PreemptedAllocs: null },
    });
  });

  test('of a periodic job shows its next launch', async () => {
    const Periodic = { Specs: ['30 4 * * *', '0 12 * * *'], TimeZone: 'Europe/Berlin' };
    const made = await plan([{ Type: 'batch', Periodic }]);
    expect(made).toMatchObject({
      NextPeriodicLaunch: '2026-01-01T03:30:00Z',
      Changes: [],
      Annotations: { DesiredTGUpdates: {} },
    });
    const off = await plan([{ Type: 'batch', Periodic: { ...Periodic, Enabled: false } }]);
    expect(off.NextPeriodicLaunch).toBe('0001-01-01T00:00:00Z');
  });

  test('keeps the current counts when they are preserved', async () => {
    await fleet.join(1);
    await run([{}, { Count: 3, ...atOnce }]);
    const made = await plan([{}, { Count: 1, ...atOnce }], { PreserveCounts: true });
    expect(made.Diff!.Type).toBe('None');
    expect(made.Annotations.DesiredTGUpdates).toEqual({ web: { ...noUpdates, Ignore: 3 } });
  });

  test('has warnings about unknown and unwise fields, and says that the job would be refused', async () => {
    await run();
    const made = await plan([{ Type: 'batch', Colour: 'red' }]);
    expect(made.Warnings.split('\n').slice(2)).toEqual([
      '* registering the job would be refused: its type is service and cannot become batch',
      '* unknown field /Job/Colour is ignored',
    ]);
  });
});
