/** Random lives of a job; after each plan a checker tests the promises of the scheduler. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { noTransition } from '../../model/allocation/allocation.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import type { Job } from '../../model/job/job.ts';
import { isReadyNode, type NodeStatus } from '../../model/node/node.ts';
import { namesFollowUp, type Plan } from '../../model/plan/plan.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';
import { checkListed } from '../fitting/check.test-helper.ts';
import type { SchedulerResult } from '../view.ts';
import { descriptions } from '../view.ts';
import { isAway } from './classify.ts';

import {
  type Event,
  type Group,
  life,
  type Setting,
  type Wish,
  wentWrong,
} from './random-life.test-helper.ts';

class Life {
  readonly cluster: TestCluster;
  readonly #setting: Setting;
  #version = -1;

  constructor(given: Setting, first: Wish) {
    this.#setting = given;
    this.cluster = new TestCluster();
    for (let at = 0; at < given.nodes; at++) this.setNode(at, 'ready');
    this.setJob(first);
  }

  get job(): Job {
    return this.cluster.job('default', 'job')!;
  }

  get deployment(): Deployment | undefined {
    return this.cluster.deployments.find(({ JobVersion }) => JobVersion === this.#version);
  }

  setJob({ count, env, delay }: Wish, Stop = false): void {
    const { type, update, disconnect, unlimited } = this.#setting;
    const isBatch = type === 'batch' || type === 'sysbatch';
    const isEverywhere = type === 'system' || type === 'sysbatch';
    const canary = isEverywhere ? update.Canary : Math.min(update.Canary, 3);
    const hasPolicy = !isEverywhere;
    const hasStop = disconnect?.StopOnClientAfter !== undefined && isEverywhere;
    const group: Group = {
      Count: isEverywhere ? Math.min(count, 1) : count,
      Update: isBatch ? null : { ...update, Canary: update.MaxParallel > 0 ? canary : 0 },
      Disconnect: hasStop ? null : disconnect,
      ShutdownDelay: delay * 1e9,
      ReschedulePolicy: hasPolicy
        ? {
            Unlimited: unlimited,
            Attempts: unlimited ? 0 : 1,
            Interval: 60e9,
            Delay: 5e9,
            DelayFunction: 'constant',
          }
        : null,
      Tasks: [makeTask({ Env: { env } })],
    };
    const job = makeJob({ Type: type, TaskGroups: [makeGroup(group)] }, ++this.#version);
    this.cluster.putJob({ ...job, Stop });
  }

  setNode(at: number, state: NodeStatus | 'drained' | 'ineligible' | 'gone'): void {
    const id = `n${at % (this.#setting.nodes + 1)}`;
    if (state === 'gone') this.cluster.dropNode(id);
    const Status = state === 'drained' || state === 'ineligible' ? 'ready' : state;
    if (Status === 'gone') return;
    this.cluster.putNode(
      makeNode(id, {
        Status,
        Drain: state === 'drained',
        cpu: 1e5,
        memory: 1e5,
        disk: 1e5,
        SchedulingEligibility: state === Status ? 'eligible' : 'ineligible',
      }),
    );
    if (Status === 'ready') this.#tellAll(id);
  }

  /** A node that is back reports its allocations and ends the stopped ones. */
  #tellAll(nodeId: string): void {
    for (const one of this.cluster.allocations) {
      if (one.NodeID !== nodeId || one.ClientStatus !== 'unknown') continue;
      this.cluster.change(one.ID, { ClientStatus: 'running' });
    }
  }

  happen(what: Event): void {
    const { cluster } = this;
    const one = 'at' in what ? pick(this.running(), what.at) : undefined;
    const change = (fields: Partial<Allocation>) => one && cluster.change(one.ID, fields);
    const transition = (fields: Partial<Allocation['DesiredTransition']>) =>
      change({ DesiredTransition: { ...noTransition, ...fields } });
    const deeds: Partial<Record<Event['kind'], () => unknown>> = {
      start: () => change({ ClientStatus: 'running' }),
      complete: () => change({ ClientStatus: 'complete' }),
      fail: () => one && cluster.fail(one.ID),
      migrate: () => transition({ Migrate: true }),
      reschedule: () => transition({ Reschedule: true }),
      force: () => transition({ ForceReschedule: true }),
      healthy: () => one?.DeploymentStatus?.Healthy ?? (one && cluster.report(one.ID, true)),
      unhealthy: () => one?.DeploymentStatus?.Healthy ?? (one && cluster.report(one.ID, false)),
      ends: () => cluster.settle(),
      allHealthy: () => cluster.allHealthy(),
      stop: () => this.setJob({ count: 2, env: 'a', delay: 1 }, true),
    };
    if (what.kind === 'job') this.setJob(what.wish);
    else if (what.kind === 'node') this.setNode(what.at, what.state);
    else if (what.kind === 'wait') cluster.nowMs += 12_000;
    else if (deeds[what.kind] !== undefined) deeds[what.kind]!();
    else this.#moveDeployment(what.kind);
  }

  #moveDeployment(kind: string): void {
    const { deployment } = this;
    if (deployment === undefined || !['running', 'paused'].includes(deployment.Status)) return;
    if (kind === 'promote') {
      this.promote();
      return;
    }
    const Status = kind === 'pause' ? 'paused' : kind === 'resume' ? 'running' : 'failed';
    this.cluster.putDeployment({ ...deployment, Status });
  }

  /** Promotes like the API: only when enough canaries are healthy. */
  promote(): void {
    const { deployment } = this;
    const entry = deployment?.TaskGroups.web;
    if (deployment?.Status !== 'running' || entry === undefined) return;
    const healthy = this.cluster
      .live()
      .filter((one) => one.DeploymentStatus?.Canary && one.DeploymentStatus.Healthy);
    if (healthy.length >= entry.DesiredCanaries) this.cluster.promote(deployment.ID);
  }

  /** The allocations whose nodes can report. */
  running(): readonly Allocation[] {
    return this.cluster.live().filter((one) => this.cluster.node(one.NodeID)?.Status === 'ready');
  }

  /** Applies the plan without the refused node; the next evaluation continues from there. */
  evaluate(refused?: number): SchedulerResult {
    const { cluster } = this;
    const before = cluster.allocations;
    const result = cluster.decide({ ID: 'evaluation' });
    checkPlan(this, result, before);
    cluster.apply(refused === undefined ? result.plan : without(result.plan, `n${refused}`), false);
    checkCluster(this);
    return result;
  }
}

/** The plan without the parts of the refused node. */
function without(plan: Plan, nodeId: string): Plan {
  const isRefused = (one: { readonly NodeID: string }) => one.NodeID === nodeId;
  const refused = plan.placements.filter(isRefused);
  if (refused.length + plan.inPlaceUpdates.filter(isRefused).length === 0) return plan;
  const kept = new Set(refused.map((one) => one.PreviousAllocation));
  return {
    ...plan,
    stops: plan.stops.filter((stop) => !kept.has(stop.allocationId) && !namesFollowUp(stop)),
    placements: plan.placements.filter((one) => !isRefused(one)),
    inPlaceUpdates: plan.inPlaceUpdates.filter((one) => !isRefused(one)),
    deploymentUpdates: plan.deploymentUpdates.filter(({ Status }) => Status !== 'successful'),
    evaluations: [],
  };
}

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % list.length];

const isCanary = (one: Allocation): boolean => one.DeploymentStatus?.Canary === true;

/** Checks every plan against the allocations that it was made from. */
function checkPlan(
  { cluster, job, deployment }: Life,
  { plan }: SchedulerResult,
  before: readonly Allocation[],
): void {
  for (const [nodeId, placements] of Map.groupBy(plan.placements, (one) => one.NodeID)) {
    const node = cluster.node(nodeId);
    expect(node && isReadyNode(node), 'placed on a node that takes work').toBe(true);
    const stops = plan.stops.filter((stop) => stop.nodeId === nodeId);
    const updates = plan.inPlaceUpdates.filter((one) => one.NodeID === nodeId);
    const existing = before.filter((one) => one.NodeID === nodeId);
    expect(checkListed({ node, existing, stops, updates, placements, job })).toBeUndefined();
  }
  const stopped = plan.stops
    .filter((stop) => stop.desiredStatus === 'stop')
    .map((stop) => stop.allocationId);
  expect(new Set(stopped).size, 'nothing is stopped twice').toBe(stopped.length);
  const ids = plan.placements.map((one) => one.PreviousAllocation).filter((id) => id !== '');
  expect(new Set(ids).size, 'nothing is replaced twice').toBe(ids.length);

  const held = plan.deployment ?? deployment;
  const entry = held?.TaskGroups.web;
  if (held && entry && held.Status !== 'successful' && !job.Stop) {
    checkRollout(cluster, job, held, { plan, before });
  }
}

/** Checks a plan while a deployment runs or has failed. */
function checkRollout(
  cluster: TestCluster,
  job: Job,
  { ID, Status, TaskGroups }: Pick<Deployment, 'ID' | 'Status' | 'TaskGroups'>,
  { plan, before }: { readonly plan: Plan; readonly before: readonly Allocation[] },
): void {
  const { DesiredCanaries, Promoted } = TaskGroups.web!;
  const MaxParallel = job.TaskGroups[0]!.Update?.MaxParallel ?? 0;
  const find = (id: string) => before.find((one) => one.ID === id);
  const members = before.filter(
    (one) =>
      one.DeploymentID === ID &&
      one.DesiredStatus === 'run' &&
      !isAway(cluster.node(one.NodeID)) &&
      (one.ClientStatus === 'running' || one.ClientStatus === 'pending'),
  );
  const regular = plan.placements.filter((one) => !isCanary(one as Allocation));
  const updated = new Set(
    plan.stops
      .filter((stop) => stop.desiredDescription === descriptions.updating)
      .map((stop) => stop.allocationId),
  );
  const updates = regular.filter((one) => updated.has(one.PreviousAllocation));
  const waiting = members.filter((one) => one.DeploymentStatus?.Healthy !== true);
  const isService = job.Type === 'service';
  const others = isService ? regular.length - updates.length + plan.inPlaceUpdates.length : 0;
  const isSick = members.some((one) => one.DeploymentStatus?.Healthy === false);
  const most = isSick ? 0 : Math.max(MaxParallel - waiting.length - others, 0);
  expect(updates.length, 'no more than a batch').toBeLessThanOrEqual(most);

  const isNew = (one: { readonly JobVersion: number; readonly PreviousAllocation: string }) =>
    one.JobVersion === job.Version && find(one.PreviousAllocation)?.JobVersion !== job.Version;
  if (Status !== 'running') expect(plan.placements.filter(isNew), 'nothing new').toEqual([]);
  const awaitsPromotion = DesiredCanaries > 0 && !Promoted;
  if (isService && awaitsPromotion && Status === 'running') {
    const fresh = regular.filter((one) => one.PreviousAllocation === '');
    expect(fresh, 'only canaries are placed').toEqual([]);
  }
  const isActive = Status === 'running' || Status === 'paused';
  for (const { PreviousAllocation } of isActive ? plan.placements : []) {
    const failed = find(PreviousAllocation);
    if (failed?.DeploymentID !== ID || failed.ClientStatus !== 'failed') continue;
    const { Reschedule, ForceReschedule } = failed.DesiredTransition;
    expect(
      Reschedule || ForceReschedule,
      'an allocation that failed in the deployment is left to the deployment watcher',
    ).toBe(true);
  }
}

/** Checks the cluster after each applied plan. */
function checkCluster({ cluster, job, deployment }: Life): void {
  const group = job.TaskGroups[0]!;
  const count = job.Stop ? 0 : group.Count;
  const live = cluster.live();
  const regular = live.filter((one) => !isCanary(one));
  const canaries = live.filter(isCanary);
  const names = (list: readonly Allocation[]) => new Set(list.map((one) => one.Name)).size;
  if (job.Type === 'system' || job.Type === 'sysbatch') {
    expect(new Set(live.map((one) => one.NodeID)).size, 'one a node').toBe(live.length);
    if (count === 0) expect(live).toEqual([]);
    return;
  }
  expect(regular.length, 'no more than the count').toBeLessThanOrEqual(count);
  expect(names(regular), 'no name twice').toBe(regular.length);
  expect(names(canaries), 'no name of a canary twice').toBe(canaries.length);
  const wanted = deployment?.TaskGroups.web?.DesiredCanaries ?? 0;
  const isWaiting = deployment?.Status === 'running' || deployment?.Status === 'paused';
  expect(canaries.length, 'no more canaries than wanted').toBeLessThanOrEqual(
    isWaiting ? wanted : 0,
  );
}

/** Lets everything succeed from now on; returns the number of evaluations until a plan had no work. */
function comeToRest(one: Life): number {
  const { cluster } = one;
  for (let round = 0; round < 40; round++) {
    cluster.nowMs += 60_000;
    cluster.settle();
    for (const { ID, ClientStatus } of cluster.live()) {
      if (ClientStatus === 'pending') cluster.change(ID, { ClientStatus: 'running' });
    }
    cluster.allHealthy();
    one.promote();
    if (one.evaluate().isEmpty) return round;
  }
  throw new Error('it never comes to rest');
}

describe('random lives', () => {
  test('every plan keeps the promises, and once all is well the job is as specified', () => {
    fc.assert(
      fc.property(life, ({ setting: given, first, events, last }) => {
        const one = new Life(given, first);
        one.evaluate();
        for (const { event: what, evaluates, refused } of events) {
          one.cluster.nowMs += 1000;
          one.happen(what);
          if (!evaluates) continue;
          one.evaluate(refused);
          // The next attempt may come late.
          if (refused !== undefined) continue;
          const again = one.cluster.decide({ ID: 'again' });
          expect(again.isEmpty, 'a second look finds nothing to do').toBe(true);
        }
        for (let at = 0; at <= given.nodes; at++) one.setNode(at, 'ready');
        one.setJob({ ...last, env: 'last' });
        comeToRest(one);
        const { job, cluster } = one;
        const isEverywhere = job.Type === 'system' || job.Type === 'sysbatch';
        const { Count } = job.TaskGroups[0]!;
        const wanted = isEverywhere ? Count * (given.nodes + 1) : Count;
        const done = cluster.live().filter((each) => each.JobVersion === job.Version);
        expect(done, 'all of the newest version').toHaveLength(wanted);
        expect(cluster.live()).toHaveLength(wanted);
        expect(['successful', undefined]).toContain(one.deployment?.Status);
      }),
      { numRuns: 300, examples: wentWrong.map((one) => [one]) },
    );
  });
});
