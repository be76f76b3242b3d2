/** Random full clusters and a job of higher priority, judged by a brute-force search. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { drained } from '../../base/steps.ts';
import type { Allocation, ClientStatus } from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { makeEvaluation, makeGroup, makeJob, makeNode, makeTask } from '../cluster.test-helper.ts';
import type { PlacementRequest } from '../decision.ts';
import { checkListed } from '../fitting/check.test-helper.ts';
import { NotedCluster } from '../memory/noted-cluster.test-helper.ts';
import { schedulerDefaults } from '../view.ts';
import { type Asked, BruteForce } from './brute-force.test-helper.ts';
import { askOn } from './brute-force-scan.test-helper.ts';
import { type GroupPlacement, Placer } from './place.ts';

const device = (count: number) => ({
  Vendor: 'acme',
  Type: 'gpu',
  Name: 'a1',
  Instances: Array.from({ length: count }, (_, number) => ({ ID: `g${number}`, Healthy: true })),
});

const node = fc.record({
  cpu: fc.constantFrom(300, 500),
  memory: fc.constantFrom(300, 500),
  disk: fc.constantFrom(60, 500),
  cores: fc.constantFrom([], [], [0, 1]),
  ports: fc.constantFrom<[number, number]>([20_000, 20_001], [20_000, 20_010]),
  Meta: fc.constantFrom({ rack: 'r1' }, { rack: 'r2' }),
  gpus: fc.constantFrom(0, 0, 2),
});

const group = fc.record({
  Count: fc.integer({ min: 1, max: 6 }),
  cpu: fc.constantFrom(50, 100, 200),
  memory: fc.constantFrom(50, 100, 200),
  disk: fc.constantFrom(10, 30),
  Cores: fc.constantFrom(0, 0, 0, 0, 1),
  gpus: fc.constantFrom(0, 0, 0, 0, 1),
  moved: fc.constantFrom(1, 1, 2),
  Networks: fc.constantFrom(
    [],
    [],
    [{ DynamicPorts: [{ Label: 'a' }] }],
    [{ ReservedPorts: [{ Label: 's', Value: 20_001 }] }],
  ),
  Constraints: fc.constantFrom([], [], [{ LTarget: '', Operand: 'distinct_hosts', RTarget: '' }]),
});

const job = fc.record({
  Priority: fc.constantFrom(10, 20, 25, 40, 60, 70),
  groups: fc.array(group, { minLength: 1, maxLength: 2 }),
  Spreads: fc.constantFrom([], [{ Attribute: '${meta.rack}', Weight: 50 }]),
});

type JobWish = Parameters<Parameters<typeof job.map>[0]>[0];

const story = fc.record({
  nodes: fc.array(node, { minLength: 1, maxLength: 5 }),
  others: fc.array(job, { minLength: 2, maxLength: 4 }),
  /** By position, the state of each allocation. */
  fates: fc.array(fc.constantFrom('run', 'run', 'run', 'run', 'run', 'stop', 'evict', 'failed'), {
    minLength: 8,
    maxLength: 8,
  }),
  important: job,
  first: fc.nat({ max: 2 }),
  update: fc.boolean(),
  algorithm: fc.constantFrom('binpack' as const, 'spread' as const),
});

const jobOf = (ID: string, { groups, ...fields }: JobWish): Job =>
  makeJob({
    ID,
    ...fields,
    TaskGroups: groups.map(({ cpu, memory, disk, Cores, gpus, moved, ...rest }, number) =>
      makeGroup({
        ...rest,
        Name: `g${number}`,
        EphemeralDisk: { SizeMB: disk },
        Migrate: { MaxParallel: moved },
        Tasks: [
          makeTask({
            Resources: {
              CPU: cpu,
              MemoryMB: memory,
              Cores,
              ...(gpus > 0 && { Devices: [{ Name: 'gpu', Count: gpus }] }),
            },
          }),
        ],
      }),
    ),
  });

const fresh = (group: TaskGroup, number: number): PlacementRequest => ({
  kind: 'new',
  name: `${group.Name}[${number}]`,
  previous: undefined,
  stop: undefined,
  delayNs: 0,
  deploymentId: '',
  isCanary: false,
});

function place(cluster: NotedCluster, wanted: Job, requests: readonly PlacementRequest[][]) {
  const begun = Placer.begin({
    view: cluster,
    evaluation: makeEvaluation({ JobID: wanted.ID }),
    job: wanted,
    allocations: cluster.allocationsOfJob('default', wanted.ID),
    ids: new SimulatedWorld(cluster.index).ids,
    nowMs: 0,
    session: cluster.memory.begin(cluster),
  });
  const placer = drained(begun);
  return wanted.TaskGroups.map((group, at) =>
    placer.placeGroup({ job: wanted, group, placements: requests[at]! }),
  );
}

const placedBy = (parts: readonly GroupPlacement[]) =>
  parts.flatMap(({ placements }) => placements) as Allocation[];

function fill(cluster: NotedCluster, wanted: Job, count?: number): void {
  cluster.putJob(wanted);
  const requests = wanted.TaskGroups.map((group) =>
    Array.from({ length: Math.min(group.Count, count ?? group.Count) }, (_, number) =>
      fresh(group, number),
    ),
  );
  const placed = placedBy(place(cluster, wanted, requests));
  cluster.putAllocations(placed.map((one) => ({ ...one, ClientStatus: 'running' as const })));
}

function befall(cluster: NotedCluster, fates: readonly string[]): void {
  for (const [position, one] of cluster.allocations.entries()) {
    const fate = fates[position % fates.length]!;
    if (fate === 'run') continue;
    cluster.putAllocations([
      fate === 'failed'
        ? { ...one, ClientStatus: fate as ClientStatus }
        : { ...one, DesiredStatus: fate as 'stop' | 'evict' },
    ]);
  }
}

interface Victims {
  readonly ids: readonly string[];
  readonly preemption: number;
}

/** The rule as documented. */
class Judge {
  readonly #cluster: NotedCluster;
  readonly #job: Job;
  #oracle: BruteForce;
  readonly #lost = new Map<string, number>();
  readonly #evicted: string[] = [];

  constructor(cluster: NotedCluster, wanted: Job) {
    const { algorithm } = cluster.configuration;
    this.#cluster = cluster;
    this.#job = wanted;
    this.#oracle = new BruteForce(wanted, cluster.nodes(), cluster.allocations, algorithm);
  }

  choose(group: TaskGroup, asked: Asked): { id: string; victims: readonly string[] } | undefined {
    const open = this.#oracle.choose(group, asked);
    if (open !== undefined) return { id: open.id, victims: [] };
    let best: { id: string; victims: readonly string[]; score: number } | undefined;
    for (const node of this.#cluster.nodes()) {
      const victims = this.#victimsOn(node, group, asked);
      if (victims === undefined) continue;
      const without = this.#oracle.without(victims.ids);
      const scores = [...without.scoresOn(group, asked, node), victims.preemption];
      const score = scores.reduce((sum, one) => sum + one, 0) / scores.length;
      if (best === undefined || score > best.score) {
        best = { id: node.ID, victims: victims.ids, score };
      }
    }
    return best;
  }

  placed(asked: Asked, placement: Allocation): void {
    const victims = placement.PreemptedAllocations ?? [];
    this.#oracle = this.#oracle.without(victims);
    this.#evicted.push(...victims);
    for (const id of victims) {
      const crew = this.#crewOf(this.#cluster.allocations.find((one) => one.ID === id)!);
      this.#lost.set(crew, (this.#lost.get(crew) ?? 0) + 1);
    }
    this.#oracle.placed(asked, placement);
  }

  /** Checks that the request fits without the victims, and not with any of them left. */
  expectMinimal(group: TaskGroup, asked: Asked, placement: Allocation): void {
    const victims = placement.PreemptedAllocations ?? [];
    const node = this.#cluster.node(placement.NodeID)!;
    const isOpen = (ids: readonly string[]) => this.#oracle.without(ids).isOpen(group, asked, node);
    expect(isOpen(victims)).toBe(true);
    for (const id of victims) expect(isOpen(victims.filter((one) => one !== id))).toBe(false);
  }

  #crewOf = ({ JobID, TaskGroup }: Allocation): string => `${JobID} ${TaskGroup}`;

  #priority = ({ JobID }: Allocation): number => this.#cluster.job('default', JobID)!.Priority;

  #victimsOn(node: Node, group: TaskGroup, asked: Asked): Victims | undefined {
    const without = (list: readonly Allocation[]) =>
      this.#oracle.without(list.map((one) => one.ID));
    const isOpen = (list: readonly Allocation[]) => without(list).isOpen(group, asked, node);
    const candidates = this.#cluster
      .allocationsOnNode(node.ID)
      .filter((one) => one.DesiredStatus === 'run' && one.ClientStatus !== 'failed')
      .filter((one) => one.JobID !== this.#job.ID && !this.#evicted.includes(one.ID))
      .filter((one) => this.#priority(one) + 10 <= this.#job.Priority);
    if (!isOpen(candidates)) return undefined;
    let chosen: Allocation[] = [];
    for (const level of [...new Set(candidates.map(this.#priority))].sort((a, b) => a - b)) {
      let left = candidates.filter((one) => this.#priority(one) === level);
      while (left.length > 0 && !isOpen(chosen)) {
        const missing = without(chosen).excess(group, asked, node);
        const costs = left.map((one) => ({
          one,
          cost: this.#distance(one, missing, group, node) + this.#penalty(one, chosen),
        }));
        costs.sort((a, b) => a.cost - b.cost || (a.one.ID < b.one.ID ? -1 : 1));
        const { one } = costs[0]!;
        left = left.filter((other) => other !== one);
        chosen.push(one);
      }
    }
    for (const one of chosen.toReversed().sort((a, b) => this.#priority(b) - this.#priority(a))) {
      const fewer = chosen.filter((other) => other !== one);
      if (isOpen(fewer)) chosen = fewer;
    }
    const priorities = chosen.map(this.#priority);
    const most = Math.max(...priorities);
    const net = most + priorities.reduce((sum, priority) => sum + priority, 0) / most;
    return {
      ids: chosen.map((one) => one.ID),
      preemption: 1 / (1 + Math.exp(0.0048 * (net - 2048))),
    };
  }

  #distance(
    { AllocatedResources }: Allocation,
    missing: { readonly cpu: number; readonly memory: number; readonly disk: number },
    group: TaskGroup,
    node: Node,
  ): number {
    const [task] = Object.values(AllocatedResources.Tasks);
    const asked = askOn(group, node);
    const parts = [
      [missing.cpu, task!.Cpu.CpuShares, asked.cpu],
      [missing.memory, task!.Memory.MemoryMB, asked.memory],
      [missing.disk, AllocatedResources.Shared.DiskMB, asked.disk],
    ] as const;
    return Math.hypot(...parts.map(([short, has, whole]) => (short - has) / whole));
  }

  #penalty(one: Allocation, chosen: readonly Allocation[]): number {
    const crew = this.#crewOf(one);
    const lost = this.#lost.get(crew) ?? 0;
    const taken = lost + chosen.filter((other) => this.#crewOf(other) === crew).length;
    const group = this.#cluster.job('default', one.JobID)!.TaskGroups;
    const { MaxParallel } = group.find(({ Name }) => Name === one.TaskGroup)!.Migrate!;
    return taken + 1 > MaxParallel ? 50 * (taken + 1 - MaxParallel) : 0;
  }
}

/** The plan applier's verdict. */
function expectSound(
  cluster: NotedCluster,
  wanted: Job,
  parts: readonly GroupPlacement[],
  updated: readonly Allocation[],
): void {
  const placements = placedBy(parts);
  const preemptions = parts.flatMap((part) => part.preemptions);
  expect(new Set(preemptions.map((one) => one.allocationId)).size).toBe(preemptions.length);
  for (const { ID } of cluster.nodes()) {
    const reason = checkListed({
      node: cluster.node(ID),
      existing: [...cluster.allocationsOnNode(ID)],
      stops: updated.map((one) => ({
        allocationId: one.ID,
        nodeId: one.NodeID,
        desiredStatus: 'stop',
        desiredDescription: '',
      })),
      preempted: preemptions
        .filter((one) => one.nodeId === ID)
        .map(({ allocationId }) => allocationId),
      placements: placements.filter((one) => one.NodeID === ID),
      updates: [],
      job: wanted,
    });
    expect(reason).toBeUndefined();
  }
}

type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

function clusterOf(list: Story['nodes'], algorithm: Story['algorithm']): NotedCluster {
  const cluster = new NotedCluster();
  for (const [position, { gpus, ...wish }] of list.entries()) {
    const devices = gpus > 0 ? [device(gpus)] : [];
    cluster.putNode(makeNode(`n${position}`, { ...wish, devices }));
  }
  cluster.configuration = { ...schedulerDefaults, algorithm };
  return cluster;
}

/** Updates of the allocations, and new allocations that the groups want. */
const requestsFor = (wanted: Job, updated: readonly Allocation[]) =>
  wanted.TaskGroups.map((group) => [
    ...updated
      .filter((one) => one.TaskGroup === group.Name)
      .map((previous): PlacementRequest => ({ ...fresh(group, 0), kind: 'update', previous })),
    ...Array.from({ length: group.Count }, (_, number) => fresh(group, number)),
  ]);

test('victims follow the rule, and nothing is evicted without need', () => {
  let evicted = 0;
  let preempting = 0;
  let free = 0;
  fc.assert(
    fc.property(story, ({ nodes, others, fates, important, first, update, algorithm }) => {
      const cluster = clusterOf(nodes, algorithm);
      const wanted = jobOf('important', important);
      fill(cluster, wanted, first);
      for (const [number, other] of others.entries()) fill(cluster, jobOf(`other${number}`, other));
      befall(cluster, fates);
      cluster.configuration = {
        ...cluster.configuration,
        preemption: { ...schedulerDefaults.preemption, service: true },
      };
      const members = cluster
        .allocationsOfJob('default', 'important')
        .filter((one) => one.DesiredStatus === 'run' && one.ClientStatus === 'running');
      const requests = requestsFor(wanted, update ? members : []);
      const parts = place(cluster, wanted, requests);
      const judge = new Judge(cluster, wanted);
      for (const [at, group] of wanted.TaskGroups.entries()) {
        const { placements, preemptions } = parts[at]!;
        // No document gives the distance for cores and devices.
        const isPlain = group.Tasks.every(
          ({ Resources }) => Resources.Cores === 0 && (Resources.Devices ?? []).length === 0,
        );
        let next = 0;
        let failed = 0;
        for (const request of requests[at]!) {
          const isSkipped = failed > 0 && request.kind === 'new';
          const expected = isSkipped ? undefined : judge.choose(group, request);
          if (expected === undefined) {
            failed++;
            continue;
          }
          const actual = placements[next++] as Allocation;
          const victims = actual.PreemptedAllocations ?? [];
          expect(victims.length > 0).toBe(expected.victims.length > 0);
          if (isPlain) {
            expect([actual.NodeID, [...victims]]).toEqual([expected.id, [...expected.victims]]);
          }
          judge.expectMinimal(group, request, actual);
          judge.placed(request, actual);
          evicted += victims.length;
          if (victims.length > 0) preempting++;
          else free++;
        }
        expect(placements).toHaveLength(next);
        expect(preemptions.map((one) => one.byAllocationId)).toEqual(
          placements.flatMap((one) => (one.PreemptedAllocations ?? []).map(() => one.ID)),
        );
      }
      const replaced = new Set(placedBy(parts).map((one) => one.PreviousAllocation));
      expectSound(
        cluster,
        wanted,
        parts,
        members.filter((one) => replaced.has(one.ID)),
      );
    }),
    { numRuns: Number(process.env.RUNS ?? 400) },
  );
  // Guards against a property that never tests anything.
  expect(preempting).toBeGreaterThan(100);
  expect(evicted).toBeGreaterThan(preempting);
  expect(free).toBeGreaterThan(100);
});
