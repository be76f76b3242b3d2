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
 * At rest, each service has `Count` allocations of its newest version, each system job has one allocation
 * on every node that takes work, and nothing else runs. Jobs whose tasks fail and jobs that wait for room
 * are left out (`blocked-reason.ts` checks whether there is room). The state also agrees with the machines.
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
    if (live.length > 0) fault(`${ID} is stopped, but ${live.length} of its allocations run`);
    return;
  }
  if (isBroken(job) || isHalted(job, account)) return;
  const waits = open.filter((one) => one.JobID === ID && one.Namespace === Namespace);
  // The canaries of all groups wait until the last group has room.
  if (waits.length > 0 && awaitsPromotion(job, account)) return;
  const groups = new Set(job.TaskGroups.map(({ Name }) => Name));
  for (const { Name, TaskGroup } of live) {
    if (!groups.has(TaskGroup)) fault(`${Name} runs, but its job has no such group`);
  }
  for (const group of job.TaskGroups) {
    const running = live.filter((one) => one.TaskGroup === group.Name);
    for (const { Name, ClientStatus } of running) {
      if (ClientStatus !== 'running' && job.Type !== 'batch' && job.Type !== 'sysbatch')
        fault(`${Name} is ${ClientStatus}`);
    }
    if (job.Type === 'service') checkService({ job, group, running, waits }, fault);
    if (job.Type === 'system') checkSystem({ job, group, running, waits }, account, fault);
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

interface GroupOfJob {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly running: readonly Allocation[];
  /** Open evaluations of the job. */
  readonly waits: readonly Evaluation[];
}

function checkService({ job, group, running, waits }: GroupOfJob, fault: Fault): void {
  const { ID, Version } = job;
  const { Name, Count } = group;
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
  { job, group, running, waits }: GroupOfJob,
  account: Account,
  fault: Fault,
): void {
  const byNode = Map.groupBy(running, ({ NodeID }) => NodeID);
  for (const node of account.rows(nodes).values()) {
    const there = byNode.get(node.ID)?.length ?? 0;
    const isAwaited = waits.some(({ NodeID }) => NodeID === '' || NodeID === node.ID);
    const isMissing = there === 0 && !isAwaited && takesWork(node) && admits(node, job, group);
    if (there > 1 || isMissing) {
      fault(`${job.ID}.${group.Name} runs ${there} times on ${node.Name}`);
    }
  }
  if (waits.length > 0) return;
  // Allocations on a node that takes no work keep their version.
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
      if (run.isRunning && !isWanted) fault(`${run.allocation.Name} runs, but is not wanted`);
      if (!run.isRunning && known?.ClientStatus === 'running') {
        fault(`${known.Name} is known as running, but does not run`);
      }
    }
    for (const one of account.occupantsOf(hardware.id)) {
      if (!runs.has(one.ID)) {
        fault(`${one.Name} is known as ${one.ClientStatus}, but its machine does not have it`);
      }
    }
  }
}

/** The node of a machine without power is down, and all its allocations have ended. */
function checkGone({ id, name }: Hardware, account: Account, fault: Fault): void {
  const status = account.node(id)?.Status;
  if (status !== undefined && status !== 'down') fault(`${name} has no power, but is ${status}`);
  for (const one of account.occupantsOf(id)) {
    fault(`${one.Name} is known as ${one.ClientStatus} on ${name}, which has no power`);
  }
}
