import { describe, expect, test } from 'vitest';
import { instantFromMs } from '../../base/instant.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { JobInput } from '../../model/job/job.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { descriptions } from '../view.ts';

type Group = Parameters<typeof makeGroup>[0];
type Policy = NonNullable<NonNullable<Group>['Disconnect']>;

const waits = { LostAfter: 600e9 };

const web = (Disconnect: Policy, group: Group = {}, version = 0, fields: JobInput = {}) => {
  const Update = fields.Type === undefined ? { MaxParallel: 0 } : null;
  return makeJob(
    { ...fields, TaskGroups: [makeGroup({ Count: 2, Update, Disconnect, ...group })] },
    version,
  );
};

/** Each node has one allocation; n0 has the first. */
function running(policy: Policy, group: Group = {}, fields: JobInput = {}): TestCluster {
  const Constraints = [{ Operand: 'distinct_hosts' }];
  const cluster = new TestCluster(['n0', 'n1', 'n2'].map((id) => makeNode(id)));
  cluster.putJob(web(policy, { Constraints, ...group }, 0, fields));
  cluster.run();
  return cluster;
}

const setNode = (
  cluster: TestCluster,
  Status: 'ready' | 'down' | 'disconnected' | 'initializing',
) => cluster.putNode(makeNode('n0', { Status }));

/** Disconnects n0 and applies the plan for it. */
function away(policy: Policy = waits, group: Group = {}, fields: JobInput = {}): TestCluster {
  const cluster = running(policy, group, fields);
  setNode(cluster, 'disconnected');
  cluster.run();
  return cluster;
}

const onNode = (cluster: TestCluster, id = 'n0'): Allocation =>
  cluster.allocations.find((one) => one.NodeID === id)!;
const pass = (cluster: TestCluster, ms: number) => {
  cluster.nowMs += ms;
};

describe('a node that is disconnected', () => {
  test('its allocations are unknown, replaced meanwhile, and given up later', () => {
    const cluster = running(waits);
    setNode(cluster, 'disconnected');
    const { plan } = cluster.run();
    const [timeout] = plan.evaluations;
    expect(timeout).toMatchObject({
      TriggeredBy: 'max-disconnect-timeout',
      StatusDescription: descriptions.disconnectTimeout,
      WaitUntil: instantFromMs(cluster.nowMs + 600_000),
    });
    const original = onNode(cluster);
    expect(plan.stops).toEqual([
      {
        allocationId: original.ID,
        nodeId: 'n0',
        desiredStatus: 'run',
        desiredDescription: descriptions.unknown,
        clientStatus: 'unknown',
        followupEvaluationId: timeout!.ID,
      },
    ]);
    expect(plan.placements).toMatchObject([
      { Name: 'job.web[0]', PreviousAllocation: original.ID, NodeID: 'n2' },
    ]);
    expect(plan.annotations.web).toMatchObject({ Disconnect: 1, Place: 1, Ignore: 1 });
    expect(cluster.decide().isEmpty).toBe(true);

    pass(cluster, 500_000);
    expect(cluster.decide().isEmpty).toBe(true);
    const expired = cluster.run({ ID: timeout!.ID }).plan;
    expect(expired.stops).toMatchObject([{ allocationId: original.ID, clientStatus: 'lost' }]);
    expect(expired.placements).toEqual([]);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('the wait for the node ends even if another evaluation comes first', () => {
    const cluster = away();
    pass(cluster, 600_000);
    expect(cluster.decide().plan.stops).toMatchObject([{ clientStatus: 'lost' }]);
  });

  test('an allocation without a follow-up evaluation gets one, once its group waits', () => {
    const cluster = away({ Replace: false });
    expect(cluster.decide().isEmpty).toBe(true);
    const policy = { ...waits, Replace: false };
    cluster.putJob(web(policy, { Constraints: [{ Operand: 'distinct_hosts' }] }, 1));
    const { plan } = cluster.run();
    expect(plan.evaluations).toMatchObject([{ TriggeredBy: 'max-disconnect-timeout' }]);
    expect(plan.stops).toMatchObject([{ desiredStatus: 'run' }]);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('its pending allocations are lost at once', () => {
    const cluster = running(waits);
    cluster.change(onNode(cluster).ID, { ClientStatus: 'pending' });
    setNode(cluster, 'disconnected');
    expect(cluster.run().plan.stops).toMatchObject([{ clientStatus: 'lost' }]);
  });

  test('Replace=false: an allocation is not replaced until it is given up', () => {
    const cluster = away({ ...waits, Replace: false });
    expect(cluster.live()).toHaveLength(1);
    expect(cluster.decide().isEmpty).toBe(true);
    pass(cluster, 600_000);
    const { plan } = cluster.run();
    expect(plan.stops).toMatchObject([{ clientStatus: 'lost' }]);
    expect(plan.placements).toMatchObject([{ Name: 'job.web[0]' }]);
  });

  test('a replacement without a node is placed when there is room', () => {
    const cluster = running(waits);
    cluster.putNode(makeNode('n2', { SchedulingEligibility: 'ineligible' }));
    setNode(cluster, 'disconnected');
    expect(cluster.run().plan.queued).toEqual({ web: 1 });
    cluster.putNode(makeNode('n2'));
    const { plan } = cluster.run();
    expect(plan.placements).toMatchObject([{ PreviousAllocation: onNode(cluster).ID }]);
  });

  test('distinct rules ignore an allocation only for its own replacement', () => {
    const rack = (name: string) => ({ Meta: { rack: name } });
    const Constraints = [{ LTarget: '${meta.rack}', Operand: 'distinct_property', RTarget: '1' }];
    const cluster = new TestCluster([makeNode('n0', rack('a')), makeNode('n1', rack('b'))]);
    cluster.putJob(web(waits, { Constraints }));
    cluster.run();
    cluster.putNode(makeNode('n0', { ...rack('a'), Status: 'disconnected' }));
    cluster.putNode(makeNode('n2', rack('a')));
    expect(cluster.run().plan.placements).toMatchObject([{ NodeID: 'n2' }]);
  });

  test('distinct rules count an allocation without a replacement', () => {
    const rack = (name: string) => ({ Meta: { rack: name } });
    const Constraints = [
      { Operand: 'distinct_hosts' },
      { LTarget: '${meta.rack}', Operand: 'distinct_property', RTarget: '2' },
    ];
    const nodes = [makeNode('n0', rack('b')), makeNode('n1', rack('a')), makeNode('n2', rack('a'))];
    const cluster = new TestCluster(nodes);
    cluster.putJob(web(waits, { Constraints, Count: 3 }));
    cluster.run();
    for (const node of nodes.slice(0, 2)) cluster.putNode({ ...node, Status: 'disconnected' });
    expect(cluster.run().plan.queued).toEqual({ web: 2 });
    // The allocation of n0 is replaced first; the allocation of n1 may come back to its rack.
    cluster.putNode(makeNode('n3', rack('a')));
    const { placements } = cluster.run().plan;
    expect(placements).toMatchObject([
      { NodeID: 'n3', PreviousAllocation: onNode(cluster, 'n1').ID },
    ]);
  });

  test('allocations in excess are not replaced', () => {
    const cluster = running(waits);
    setNode(cluster, 'disconnected');
    cluster.putJob(web(waits, { Count: 1, Constraints: [{ Operand: 'distinct_hosts' }] }, 1));
    expect(cluster.run().plan.placements).toEqual([]);
  });

  test('a stopped job does not wait', () => {
    const cluster = away();
    cluster.putJob({ ...web(waits, {}, 1), Stop: true });
    cluster.run();
    expect(onNode(cluster)).toMatchObject({ DesiredStatus: 'stop', ClientStatus: 'lost' });
  });
});

describe('an allocation that comes back', () => {
  const report = (cluster: TestCluster, fields: Partial<Allocation> = {}) => {
    setNode(cluster, 'ready');
    cluster.change(onNode(cluster).ID, { ClientStatus: 'running', ...fields });
  };
  const successor = (cluster: TestCluster) => onNode(cluster, 'n2');
  const startedAt = (StartedAt: string) =>
    ({
      TaskStates: {
        server: {
          State: 'running',
          Failed: false,
          Restarts: 0,
          LastRestart: null,
          StartedAt,
          FinishedAt: null,
          Events: [],
        },
      },
    }) as unknown as Partial<Allocation>;
  const scored = (score: number, NodeID: string) => ({
    Metrics: { ...metrics, ScoreMetaData: [{ NodeID, Scores: {}, NormScore: score }] },
  });
  const metrics = running(waits).live()[0]!.Metrics!;

  test('stays unknown until its node has reported it', () => {
    const cluster = away();
    for (const status of ['initializing', 'ready'] as const) {
      setNode(cluster, status);
      expect(cluster.decide().isEmpty).toBe(true);
    }
  });

  test('goes on without its note if it has no replacement', () => {
    const cluster = away({ ...waits, Replace: false });
    report(cluster);
    const { plan } = cluster.run();
    expect(plan.annotations.web).toMatchObject({ Reconnect: 1, Ignore: 1 });
    expect(onNode(cluster)).toMatchObject({ DesiredStatus: 'run', DesiredDescription: '' });
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('that fails later does not wait for the end of the time away', () => {
    const cluster = away({ ...waits, Replace: false });
    report(cluster);
    cluster.run();
    cluster.fail(onNode(cluster).ID);
    expect(cluster.run().plan.evaluations).toMatchObject([
      { TriggeredBy: 'alloc-reschedule', WaitUntil: instantFromMs(cluster.nowMs + 30_000) },
    ]);
  });

  test.each<[string, Policy, Partial<Allocation>, Partial<Allocation>, 'original' | 'successor']>([
    ['keep_original', { Reconcile: 'keep_original' }, scored(0, 'n0'), scored(1, 'n2'), 'original'],
    [
      'keep_replacement',
      { Reconcile: 'keep_replacement' },
      scored(1, 'n0'),
      scored(0, 'n2'),
      'successor',
    ],
    ['the better score', {}, scored(1, 'n0'), scored(0.5, 'n2'), 'original'],
    ['the better score, the other way round', {}, scored(0.5, 'n0'), scored(1, 'n2'), 'successor'],
    ['the same score', {}, scored(1, 'n0'), scored(1, 'n2'), 'original'],
    [
      'the longest running',
      { Reconcile: 'longest_running' },
      startedAt('2026-01-01T00:00:02Z'),
      startedAt('2026-01-01T00:00:01Z'),
      'successor',
    ],
    [
      'the longest running, where the other has not started',
      { Reconcile: 'longest_running' },
      startedAt('2026-01-01T00:00:02Z'),
      { ClientStatus: 'pending' },
      'original',
    ],
    [
      'a replacement that failed',
      { Reconcile: 'keep_replacement' },
      {},
      { ClientStatus: 'failed' },
      'original',
    ],
    [
      'an original that came back as failed',
      { Reconcile: 'keep_original' },
      { ClientStatus: 'failed' },
      {},
      'successor',
    ],
    ['a newer version', { Reconcile: 'keep_original' }, {}, { JobVersion: 1 }, 'successor'],
  ])('%s', (_, policy, original, other, kept) => {
    const cluster = away({ ...waits, ...policy });
    const [first, second] = [onNode(cluster), successor(cluster)];
    cluster.change(second.ID, other);
    if (other.JobVersion)
      cluster.putJob(
        web({ ...waits, ...policy }, { Constraints: [{ Operand: 'distinct_hosts' }] }, 1),
      );
    report(cluster, original);
    const loser = kept === 'original' ? second : first;
    const { plan } = cluster.run();
    expect(plan.stops.filter((stop) => stop.desiredStatus === 'stop')).toEqual([
      {
        allocationId: loser.ID,
        nodeId: loser.NodeID,
        desiredStatus: 'stop',
        desiredDescription: descriptions.reconnected,
      },
    ]);
    expect(plan.placements).toEqual([]);
    expect(cluster.liveNames()).toEqual(['job.web[0]', 'job.web[1]']);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test.each<['original' | 'successor', Partial<Allocation>, Partial<Allocation>]>([
    ['original', { ClientStatus: 'complete' }, {}],
    ['successor', {}, { ClientStatus: 'complete' }],
  ])('of a batch job, the completed %s is kept', (kept, original, other) => {
    const cluster = away(waits, {}, { Type: 'batch' });
    const [first, second] = [onNode(cluster), successor(cluster)];
    cluster.change(second.ID, other);
    report(cluster, original);
    const loser = kept === 'original' ? second : first;
    expect(cluster.run().plan.stops).toMatchObject([{ allocationId: loser.ID }]);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('that failed and has no replacement: its delay counts, not the time away', () => {
    const cluster = away({ ...waits, Replace: false });
    const ModifyTime = instantFromMs(cluster.nowMs);
    report(cluster, { ClientStatus: 'failed', ModifyTime });
    const { plan } = cluster.run();
    expect(plan.evaluations).toMatchObject([{ TriggeredBy: 'alloc-reschedule' }]);
    pass(cluster, 30_000);
    expect(cluster.run({ ID: plan.evaluations[0]!.ID }).plan.placements).toHaveLength(1);
  });
});

describe('a node that may still run lost allocations (StopOnClientAfter)', () => {
  const stops = { StopOnClientAfter: 60e9 };

  test('their place is reserved for that time, then taken', () => {
    const cluster = running(stops);
    setNode(cluster, 'down');
    const { plan } = cluster.run();
    const [original] = cluster.allocations.filter((one) => one.NodeID === 'n0');
    expect(plan.placements).toEqual([]);
    expect(plan.evaluations).toMatchObject([
      { TriggeredBy: 'max-disconnect-timeout', WaitUntil: instantFromMs(cluster.nowMs + 60_000) },
    ]);
    expect(plan.stops).toMatchObject([{ clientStatus: 'lost', desiredStatus: 'stop' }]);
    expect(cluster.decide().isEmpty).toBe(true);
    pass(cluster, 60_000);
    const later = cluster.run({ ID: plan.evaluations[0]!.ID }).plan;
    expect(later.placements).toMatchObject([
      { Name: 'job.web[0]', PreviousAllocation: original!.ID },
    ]);
    expect(cluster.decide().isEmpty).toBe(true);
  });

  test('no other allocation gets their name meanwhile', () => {
    const cluster = running(stops);
    setNode(cluster, 'down');
    cluster.run();
    cluster.putJob(web(stops, { Count: 3, Tasks: [makeTask()] }, 1));
    expect(cluster.run().plan.placements).toMatchObject([{ Name: 'job.web[2]' }]);
  });
});

describe('the follow-up evaluation ends before its time, because clocks jump', () => {
  /** The only remaining node is full. */
  const close = (cluster: TestCluster, isOpen = false) => {
    const SchedulingEligibility = isOpen ? 'eligible' : 'ineligible';
    for (const id of ['n1', 'n2']) cluster.putNode(makeNode(id, { SchedulingEligibility }));
  };
  const hourMs = 3_600_000;

  test('an allocation whose node is away is still given up', () => {
    const cluster = away({ ...waits, Replace: false });
    cluster.end(onNode(cluster).FollowupEvalID);
    const { plan } = cluster.run();
    const [timeout] = plan.evaluations;
    expect(timeout).toMatchObject({
      TriggeredBy: 'max-disconnect-timeout',
      WaitUntil: instantFromMs(cluster.nowMs + 600_000),
    });
    expect(onNode(cluster)).toMatchObject({
      ClientStatus: 'unknown',
      FollowupEvalID: timeout!.ID,
    });
    expect(cluster.decide().isEmpty).toBe(true);
    const later = cluster.run({ ID: timeout!.ID }).plan;
    expect(later.stops).toMatchObject([{ clientStatus: 'lost' }]);
    expect(later.placements).toMatchObject([{ Name: 'job.web[0]' }]);
  });

  test('a lost allocation is still replaced', () => {
    const cluster = running({ StopOnClientAfter: 60e9 });
    setNode(cluster, 'down');
    close(cluster);
    const [grace] = cluster.run().plan.evaluations;
    pass(cluster, 60_000);
    expect(cluster.run({ ID: grace!.ID }).plan.queued).toEqual({ web: 1 });
    pass(cluster, -hourMs);
    close(cluster, true);
    const { plan } = cluster.run();
    expect(plan.placements).toEqual([]);
    expect(plan.evaluations).toMatchObject([
      {
        TriggeredBy: 'max-disconnect-timeout',
        WaitUntil: instantFromMs(cluster.nowMs + hourMs),
      },
    ]);
    expect(cluster.decide().isEmpty).toBe(true);
    const later = cluster.run({ ID: plan.evaluations[0]!.ID }).plan;
    expect(later.placements).toMatchObject([{ Name: 'job.web[0]' }]);
  });

  test('a failed allocation is still tried again', () => {
    const cluster = running({});
    cluster.fail(onNode(cluster).ID);
    const [delay] = cluster.run().plan.evaluations;
    close(cluster);
    setNode(cluster, 'down');
    pass(cluster, 30_000);
    expect(cluster.run({ ID: delay!.ID }).plan.queued).toEqual({ web: 1 });
    pass(cluster, -hourMs);
    close(cluster, true);
    const { plan } = cluster.run();
    expect(plan.placements).toEqual([]);
    expect(plan.evaluations).toMatchObject([
      { TriggeredBy: 'alloc-reschedule', WaitUntil: instantFromMs(cluster.nowMs + hourMs) },
    ]);
    expect(cluster.decide().isEmpty).toBe(true);
    const later = cluster.run({ ID: plan.evaluations[0]!.ID }).plan;
    expect(later.placements).toMatchObject([{ Name: 'job.web[0]' }]);
  });
});
