import { expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isTerminal, occupiesNode } from '../../src/model/allocation/allocation-rules.ts';
import { type Deployment, isTerminalDeployment } from '../../src/model/deployment/deployment.ts';
import type { Job } from '../../src/model/job/job.ts';
import { jobStatus } from '../../src/model/job/job-rules.ts';
import {
  allocations,
  deployments,
  evaluations,
  inNamespace,
  jobSummaries,
  jobs,
  nodes,
} from '../../src/state/tables.ts';
import type { Snapshot } from '../../src/state/types.ts';
import { RandomWorld } from '../support/random-world.ts';

const allocationsOf = (view: Snapshot, jobId: string): Allocation[] => [
  ...view
    .table(allocations)
    .by('job')
    .scan({ prefix: inNamespace('default', jobId) }),
];

const allocationsOn = (view: Snapshot, nodeId: string): Allocation[] => [
  ...view
    .table(allocations)
    .by('node')
    .scan({ prefix: [nodeId] }),
];

const deploymentsOf = (view: Snapshot, job: Job): Deployment[] =>
  [
    ...view
      .table(deployments)
      .by('job')
      .scan({ prefix: inNamespace('default', job.ID) }),
  ].filter((one) => one.JobCreateIndex === job.CreateIndex);

/** The deployment of the current version. */
const currentDeployment = (view: Snapshot, job: Job): Deployment | undefined =>
  deploymentsOf(view, job).findLast((one) => one.JobVersion === job.Version);

const cpuOf = (list: readonly Allocation[]): number =>
  list
    .flatMap((one) => Object.values(one.AllocatedResources.Tasks))
    .reduce((sum, task) => sum + task.Cpu.CpuShares, 0);

const counters = [
  ['pending', 'Starting'],
  ['running', 'Running'],
  ['complete', 'Complete'],
  ['failed', 'Failed'],
  ['lost', 'Lost'],
  ['unknown', 'Unknown'],
] as const;

/** Counters that differ from a count. */
function* wrongSummaries(view: Snapshot): Iterable<string> {
  for (const { JobID, JobCreateIndex, Summary } of view.table(jobSummaries).scan()) {
    const own = allocationsOf(view, JobID).filter((one) => one.JobCreateIndex === JobCreateIndex);
    for (const [group, counted] of Object.entries(Summary)) {
      for (const [status, counter] of counters) {
        const there = own.filter((one) => one.TaskGroup === group && one.ClientStatus === status);
        if (counted[counter] === there.length) continue;
        yield `${JobID}.${group}: ${counter} is ${counted[counter]} and not ${there.length}`;
      }
    }
  }
}

function* wrongJobStatuses(view: Snapshot): Iterable<string> {
  for (const job of view.table(jobs).scan()) {
    const prefix = inNamespace('default', job.ID);
    const expected = jobStatus(job, {
      hasActiveDeployment: deploymentsOf(view, job).some((one) => !isTerminalDeployment(one)),
      hasLiveAllocation: allocationsOf(view, job.ID).some(
        (one) => one.JobCreateIndex === job.CreateIndex && !isTerminal(one),
      ),
      hasOpenEvaluation: [...view.table(evaluations).by('open').scan({ prefix })].length > 0,
      everEvaluated: [...view.table(evaluations).by('job').scan({ prefix })].length > 0,
    });
    if (job.Status !== expected) yield `${job.ID} is ${job.Status} and not ${expected}`;
  }
}

/** Nodes with more allocations than resources. */
function* overfilledNodes(view: Snapshot): Iterable<string> {
  for (const { ID, Name, NodeResources } of view.table(nodes).scan()) {
    const running = allocationsOn(view, ID).filter((one) => one.ClientStatus === 'running');
    const used = cpuOf(running);
    const { CpuShares } = NodeResources.Cpu;
    if (used > CpuShares) yield `${Name} runs ${used} MHz of ${CpuShares}`;
  }
}

/** Jobs with several active deployments, or one of an old version. */
function* strayDeployments(view: Snapshot): Iterable<string> {
  for (const job of view.table(jobs).scan()) {
    const active = deploymentsOf(view, job).filter((one) => !isTerminalDeployment(one));
    if (active.length > 1) yield `${job.ID} has ${active.length} active deployments`;
  }
}

const faultsAtAnyTime = (view: Snapshot): string[] => [
  ...strayDeployments(view),
  ...wrongSummaries(view),
  ...wrongJobStatuses(view),
  ...overfilledNodes(view),
];

function* leftOnNodesThatAreDown(view: Snapshot): Iterable<string> {
  for (const { ID, Name, Status } of view.table(nodes).scan()) {
    if (Status !== 'down') continue;
    for (const { JobID, ClientStatus, DesiredStatus } of allocationsOn(view, ID)) {
      if (!occupiesNode({ ClientStatus })) continue;
      yield `${JobID} has a ${ClientStatus} allocation (${DesiredStatus}) on ${Name}, which is down`;
    }
  }
}

function* forgottenEvaluations(view: Snapshot, nowMs: number): Iterable<string> {
  for (const { JobID, Status, TriggeredBy, WaitUntil } of view.table(evaluations).scan()) {
    if (Status !== 'pending' || WaitUntil > nowMs * 1e6) continue;
    yield `the evaluation ${TriggeredBy} of ${JobID} is still pending`;
  }
}

/** Allocations of the group that run, or succeeded in a batch job. */
function countOf(view: Snapshot, job: Job): { live: number; done: number } {
  const all = allocationsOf(view, job.ID);
  const done = all.filter(
    (one) =>
      job.Type === 'batch' &&
      one.ClientStatus === 'complete' &&
      one.DesiredStatus === 'run' &&
      one.JobVersion === job.Version &&
      one.JobCreateIndex === job.CreateIndex,
  );
  return { live: all.filter((one) => !isTerminal(one)).length, done: done.length };
}

function* wrongCounts(view: Snapshot): Iterable<string> {
  for (const job of view.table(jobs).scan()) {
    const group = job.TaskGroups[0]!;
    const wanted = job.Stop ? 0 : group.Count;
    const { live, done } = countOf(view, job);
    if (live > wanted) yield `${job.ID} has ${live} of ${wanted}`;
    if (live + done >= wanted) continue;
    // A failed version places nothing new.
    if (currentDeployment(view, job)?.Status === 'failed') continue;
    const hasRoom = [...view.table(nodes).scan()].some(({ ID, Status, NodeResources }) => {
      const used = cpuOf(allocationsOn(view, ID).filter(occupiesNode));
      const free = NodeResources.Cpu.CpuShares - used;
      return Status === 'ready' && free >= group.Tasks[0]!.Resources.CPU;
    });
    if (hasRoom) yield `${job.ID} has ${live}, and ${done} done, of ${wanted}, and there is room`;
  }
}

/** Active deployments that nothing holds back. */
function* endlessDeployments(view: Snapshot): Iterable<string> {
  for (const job of view.table(jobs).scan()) {
    const active = deploymentsOf(view, job).find((one) => !isTerminalDeployment(one));
    if (active === undefined) continue;
    const isBlocked = [...view.table(evaluations).by('open').scan()].some(
      (one) => one.JobID === job.ID && (one.Status === 'blocked' || one.WaitUntil > 0),
    );
    const text = `${job.ID} (version ${job.Version}) has a deployment of version ${active.JobVersion}`;
    if (!isBlocked) yield `${text} that is ${active.Status}`;
  }
}

const faultsAtRest = (view: Snapshot, nowMs: number): string[] => [
  ...faultsAtAnyTime(view),
  ...leftOnNodesThatAreDown(view),
  ...forgottenEvaluations(view, nowMs),
  ...wrongCounts(view),
  ...endlessDeployments(view),
];

const stepsPerWorld = 50;
const seeds = Number(process.env.SEEDS ?? 25);

async function run(seed: number, restarts: boolean) {
  const random = await RandomWorld.start(seed);
  for (let step = 0; step < stepsPerWorld; step++) {
    await random.step(restarts);
    if (step % 4 > 0) continue;
    await random.settle();
    const faults = faultsAtAnyTime(random.state.read());
    if (faults.length > 0) return { step, faults, errors: random.errors };
  }
  await random.comeToRest();
  const faults = faultsAtRest(random.state.read(), random.world.clock.nowMs());
  random.stop();
  return { step: stepsPerWorld, faults, errors: random.errors };
}

test.each([
  ['without crashes of the server', false],
  ['with crashes of the server', true],
])(
  'random worlds are sound at all times and come to rest as wanted, %s',
  async (_, restarts) => {
    for (let seed = 1; seed <= seeds; seed++) {
      const found = await run(seed, restarts);
      expect({ seed, ...found }).toEqual({ seed, step: stepsPerWorld, faults: [], errors: [] });
    }
  },
  300_000,
);
