import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { isTerminalDeployment } from '../../src/model/deployment/deployment.ts';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import type { Job } from '../../src/model/job/job.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import { deployments, jobs, nodes } from '../../src/state/tables.ts';
import { type Account, isLive } from '../account.ts';
import type { Hardware } from '../hardware.ts';
import type { Checker, Fault, Scene } from './checker.ts';
import { admits, takesWork } from './rules.ts';
import { isBroken, isHalted, isNews, openEvaluations } from './waiting.ts';

/**
 * At rest, what should run runs, and nothing else: so many of each service, all of its newest
 * version, and one of each system job on every node that takes work. A job whose tasks fail by
 * themselves is left out, and so is what waits for room: whether it waits for good reason is another
 * checker's question. And what the servers believe of each machine is so.
 */
export const desiredCountsAreReached = (): Checker => ({
  guarantee: 'desired counts are reached after the faults end',
  rested(scene, fault) {
    const { account } = scene;
    const open = openEvaluations(account);
    for (const job of account.rows(jobs).values()) checkJob(job, open, scene, fault);
    for (const { JobID, Status, ID } of account.rows(deployments).values()) {
      if (isTerminalDeployment({ Status }) || open.some((one) => one.JobID === JobID)) continue;
      fault(`deployment ${ID} of ${JobID} is ${Status}`);
    }
    checkMachines(scene, fault);
  },
});

function checkJob(job: Job, open: readonly Evaluation[], scene: Scene, fault: Fault): void {
  const { account } = scene;
  const { ID, Namespace } = job;
  const live = [...account.allocationsOf({ Namespace, JobID: ID })].filter(isLive);
  if (job.Stop) {
    if (live.length > 0) fault(`${ID} is stopped and ${live.length} of it run`);
    return;
  }
  if (isBroken(job) || isHalted(job, account)) return;
  const waits = open.filter((one) => one.JobID === ID && one.Namespace === Namespace);
  // Canaries of all groups wait for each other, and so for the room that one of them lacks.
  if (waits.length > 0 && awaitsPromotion(job, account)) return;
  const groups = new Set(job.TaskGroups.map(({ Name }) => Name));
  for (const { Name, TaskGroup } of live) {
    if (!groups.has(TaskGroup)) fault(`${Name} runs, and its job has no such group`);
  }
  for (const group of job.TaskGroups) {
    const running = live.filter((one) => one.TaskGroup === group.Name);
    for (const { Name, ClientStatus } of running) {
      if (ClientStatus !== 'running' && job.Type !== 'batch' && job.Type !== 'sysbatch')
        fault(`${Name} is ${ClientStatus}`);
    }
    if (job.Type === 'service') checkService(job, group, running, waits, fault);
    if (job.Type === 'system') checkSystem(job, group, running, waits, scene, fault);
  }
}

function awaitsPromotion({ Namespace, ID, CreateIndex }: Job, account: Account): boolean {
  for (const one of account.rows(deployments).values()) {
    const isIts = one.Namespace === Namespace && one.JobID === ID;
    if (!isIts || one.JobCreateIndex !== CreateIndex || isTerminalDeployment(one)) continue;
    const groups = Object.values(one.TaskGroups);
    if (groups.some(({ DesiredCanaries, Promoted }) => DesiredCanaries > 0 && !Promoted))
      return true;
  }
  return false;
}

function checkService(
  { ID, Version }: Job,
  { Name, Count }: TaskGroup,
  running: readonly Allocation[],
  waits: readonly Evaluation[],
  fault: Fault,
): void {
  const isWaiting = waits.some(({ FailedTGAllocs }) => Object.hasOwn(FailedTGAllocs ?? {}, Name));
  const isEnough = isWaiting ? running.length <= Count : running.length === Count;
  if (!isEnough) fault(`${ID}.${Name} wants ${Count} and has ${running.length}`);
  const names = new Set(running.map((one) => one.Name));
  if (names.size !== running.length) fault(`${ID}.${Name} has a name twice`);
  if (isWaiting) return;
  const old = running.filter(({ JobVersion }) => JobVersion !== Version);
  if (old.length > 0) fault(`${old.length} of ${ID}.${Name} are older than version ${Version}`);
}

function checkSystem(
  job: Job,
  group: TaskGroup,
  running: readonly Allocation[],
  waits: readonly Evaluation[],
  { account }: Scene,
  fault: Fault,
): void {
  const byNode = Map.groupBy(running, ({ NodeID }) => NodeID);
  for (const node of account.rows(nodes).values()) {
    const there = byNode.get(node.ID)?.length ?? 0;
    const isWanted = takesWork(node) && admits(node, job, group);
    const isAwaited = waits.some(({ NodeID }) => NodeID === '' || NodeID === node.ID);
    const what = `${job.ID}.${group.Name} runs ${there} times on ${node.Name}`;
    if (there > 1 || (isWanted && there === 0 && !isAwaited)) fault(what);
  }
  if (waits.length > 0) return;
  // Where nothing new may come, what is there stays as it is.
  const old = running.filter(({ JobVersion, NodeID }) => {
    const node = account.node(NodeID);
    return JobVersion !== job.Version && node !== undefined && takesWork(node);
  });
  if (old.length > 0) fault(`${old.length} of ${job.ID} are older than version ${job.Version}`);
}

function checkMachines({ account, machines, elapsedMs }: Scene, fault: Fault): void {
  for (const { hardware, runs, isUp } of machines.values()) {
    const node = account.node(hardware.id);
    if (!isUp) {
      checkGone(hardware, account, fault);
      continue;
    }
    if (node?.Status !== 'ready') fault(`${hardware.name} is ${node?.Status ?? 'not known'}`);
    for (const run of runs.values()) {
      if (isNews(run, elapsedMs)) continue;
      const known = account.allocation(run.id);
      const isWanted = known !== undefined && isLive(known);
      if (run.isRunning && !isWanted) fault(`${run.allocation.Name} still runs and is not wanted`);
      if (!run.isRunning && known?.ClientStatus === 'running') {
        fault(`${known.Name} is known as running and does not run`);
      }
    }
    for (const one of account.occupantsOf(hardware.id)) {
      if (!runs.has(one.ID)) fault(`${one.Name} is known as ${one.ClientStatus} and is not there`);
    }
  }
}

/** What ran on a machine that is gone is given up, and nothing is wanted of it. */
function checkGone({ id, name }: Hardware, account: Account, fault: Fault): void {
  const status = account.node(id)?.Status;
  if (status !== undefined && status !== 'down') fault(`${name} is gone and is ${status}`);
  for (const one of account.occupantsOf(id)) {
    fault(`${one.Name} is known as ${one.ClientStatus} on ${name}, which is gone`);
  }
}
