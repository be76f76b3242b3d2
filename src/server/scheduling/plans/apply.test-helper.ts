import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import type { Allocation } from '../../../model/allocation/allocation.ts';
import { complete } from '../../../model/complete.ts';
import type { Deployment } from '../../../model/deployment/deployment.ts';
import type { Evaluation } from '../../../model/evaluation/evaluation.ts';
import type { Job, JobInput } from '../../../model/job/job.ts';
import type { Node } from '../../../model/node/node.ts';
import type { Plan } from '../../../model/plan/plan.ts';
import {
  SchedulerConfigurationSchema,
  type StoredSchedulerConfiguration,
} from '../../../model/scheduler-configuration/scheduler-configuration.ts';
import {
  makeEvaluation,
  makeGroup,
  makeJob,
  makeNode,
  makeTask,
} from '../../../scheduler/cluster.test-helper.ts';
import { schedule } from '../../../scheduler/schedule.ts';
import { type SchedulerConfiguration, schedulerDefaults } from '../../../scheduler/view.ts';
import { memoryState } from '../../../state/state.test-helper.ts';
import {
  allocations,
  allTables,
  deployments,
  evaluations,
  inNamespace,
  jobs,
  jobVersions,
  nodes,
  numberPart,
  schedulerConfiguration,
} from '../../../state/tables.ts';
import { clusterView } from '../cluster-view.ts';
import { applyPlan } from './apply.ts';

export type Group = Parameters<typeof makeGroup>[0];

/** A state with two nodes, and plans made from it. */
export async function setUp() {
  const world = new SimulatedWorld(1);
  const state = await memoryState(allTables, world);
  const putNode = (node: Node) => state.write((transaction) => transaction.table(nodes).put(node));
  await putNode(makeNode('n1'));
  await putNode(makeNode('n2'));
  const putJob = (job: Job) =>
    state.write((transaction) => {
      transaction.table(jobVersions).put(transaction.table(jobs).put(job));
    });
  const decide = (
    fields: Partial<Evaluation> = {},
    preemption: Partial<SchedulerConfiguration['preemption']> = {},
  ) => {
    const view = clusterView(state.head(), {
      ...schedulerDefaults,
      preemption: { ...schedulerDefaults.preemption, ...preemption },
    });
    const options = { nowMs: world.clock.nowMs(), ids: world.ids };
    return schedule(view, { ...makeEvaluation(), ...fields }, options).plan;
  };
  const apply = async (plan: Plan) =>
    (await state.write((transaction) => applyPlan(transaction, world, plan))).value;
  const change = (id: string, fields: Partial<Allocation>) =>
    state.write((transaction) => {
      const table = transaction.table(allocations);
      table.put({ ...table.get(...inNamespace('default', id))!, ...fields });
    });
  const configure = (PreemptionConfig: object) =>
    state.write((transaction) => {
      const row = complete(SchedulerConfigurationSchema, { PreemptionConfig });
      transaction.table(schedulerConfiguration).put(row as StoredSchedulerConfiguration);
    });
  const changeDeployment = (fields: Partial<Deployment>) =>
    state.write((transaction) => {
      const [row] = [...transaction.table(deployments).scan()];
      transaction.table(deployments).put({ ...row!, ...fields });
    });
  const all = {
    allocations: () => [...state.read().table(allocations).scan()],
    deployments: () => [...state.read().table(deployments).scan()],
    evaluations: () => [...state.read().table(evaluations).scan()],
  };
  const version = (number: number) =>
    state
      .read()
      .table(jobVersions)
      .get(...inNamespace('default', 'job', numberPart(number)))!;
  const storedJob = () =>
    state
      .read()
      .table(jobs)
      .get(...inNamespace('default', 'job'))!;
  return {
    world,
    putNode,
    putJob,
    decide,
    apply,
    change,
    configure,
    changeDeployment,
    all,
    version,
    storedJob,
  };
}

export const jobOf = (group: Group = {}, version = 0, fields: JobInput = {}) =>
  makeJob({ ...fields, TaskGroups: [makeGroup(group)] }, version);
export const changed = (value: string) => ({ Tasks: [makeTask({ Env: { A: value } })] });
export const healthy = { Healthy: true, Timestamp: null, Canary: false, ModifyIndex: 0 };
