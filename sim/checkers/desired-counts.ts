import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { Job } from '../../src/model/job/job.ts';
import type { TaskGroup } from '../../src/model/task-group/task-group.ts';
import { allocations, evaluations, inNamespace, jobs, nodes } from '../../src/state/tables.ts';
import type { Snapshot } from '../../src/state/types.ts';
import type { Checker, Fault, Scene } from './checker.ts';

/**
 * At rest, what should run runs, and nothing else: so many of each service, one of each system job on
 * every node that takes work. A job whose tasks fail by themselves, or that waits for room, is left
 * out: whether it waits for good reason is another checker's question.
 */
export const desiredCountsAreReached = (): Checker => ({
  guarantee: 'desired counts are reached after the faults end',
  rested(scene, fault) {
    const { view } = scene;
    for (const job of view.table(jobs).scan()) {
      const all = [
        ...view
          .table(allocations)
          .by('job')
          .scan({ prefix: inNamespace(job.Namespace, job.ID) }),
      ];
      const live = all.filter((one) => one.DesiredStatus === 'run' && isAlive(one));
      if (job.Stop) {
        if (live.length > 0) fault(`${job.ID} is stopped and ${live.length} of it run`);
        continue;
      }
      if (isBroken(job) || isWaiting(view, job)) continue;
      for (const group of job.TaskGroups) {
        const running = live.filter(
          (one) => one.TaskGroup === group.Name && one.ClientStatus === 'running',
        );
        if (job.Type === 'service') checkService(job, group, running, fault);
        if (job.Type === 'system') checkSystem(job, group, running, scene, fault);
      }
    }
    for (const machine of scene.machines.values()) {
      for (const run of machine.runs.values()) {
        const known = view.table(allocations).get(...inNamespace('default', run.id));
        const isWanted = known !== undefined && known.DesiredStatus === 'run' && isAlive(known);
        if (run.isRunning && !isWanted)
          fault(`${run.allocation.Name} still runs and is not wanted`);
        if (!run.isRunning && known?.ClientStatus === 'running') {
          fault(`${known.Name} is known as running and does not run`);
        }
      }
    }
  },
});

const isAlive = ({ ClientStatus }: Allocation): boolean =>
  ClientStatus === 'pending' || ClientStatus === 'running' || ClientStatus === 'unknown';

/** Its tasks end with a fault. */
const isBroken = (job: Job): boolean =>
  job.TaskGroups.some(({ Tasks }) =>
    Tasks.some(
      ({ Config }) => Number((Config as { exit_code?: number } | null)?.exit_code ?? 0) !== 0,
    ),
  );

const isWaiting = (view: Snapshot, { Namespace, ID }: Job): boolean =>
  [
    ...view
      .table(evaluations)
      .by('open')
      .scan({ prefix: inNamespace(Namespace, ID) }),
  ].length > 0;

function checkService(
  { ID, Version }: Job,
  { Name, Count }: TaskGroup,
  running: readonly Allocation[],
  fault: Fault,
): void {
  if (running.length !== Count) fault(`${ID}.${Name} wants ${Count} and has ${running.length}`);
  const old = running.filter(({ JobVersion }) => JobVersion !== Version);
  // A deployment that failed or waits for somebody leaves older versions where they are.
  const names = new Set(running.map((one) => one.Name));
  if (names.size !== running.length) fault(`${ID}.${Name} has a name twice (${old.length} old)`);
}

function checkSystem(
  { ID, Datacenters }: Job,
  { Name }: TaskGroup,
  running: readonly Allocation[],
  { view }: Scene,
  fault: Fault,
): void {
  const byNode = new Map<string, number>();
  for (const { NodeID } of running) byNode.set(NodeID, (byNode.get(NodeID) ?? 0) + 1);
  for (const node of view.table(nodes).scan()) {
    const takesWork =
      node.Status === 'ready' && !node.Drain && node.SchedulingEligibility === 'eligible';
    const isWanted = Datacenters?.some((one) => one === '*' || one === node.Datacenter) === true;
    const count = byNode.get(node.ID) ?? 0;
    if (takesWork && isWanted && count !== 1)
      fault(`${ID}.${Name} runs ${count} times on ${node.Name}`);
    if (count > 1) fault(`${ID}.${Name} runs ${count} times on ${node.Name}`);
  }
}
