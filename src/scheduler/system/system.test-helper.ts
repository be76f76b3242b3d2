import { noTransition } from '../../model/allocation/allocation.ts';
import type { JobInput } from '../../model/job/job.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';

export type Group = Parameters<typeof makeGroup>[0];

export const system = (group: Group = {}, version = 0, fields: JobInput = {}) => {
  const Type = fields.Type ?? 'system';
  const Update = Type === 'system' ? { MaxParallel: 0 } : null;
  return makeJob(
    { Type, Name: 'daemon', ...fields, TaskGroups: [makeGroup({ Update, ...group })] },
    version,
  );
};
export const changed = (value: string) => ({ Tasks: [makeTask({ Env: { A: value } })] });
export const migrate = { DesiredTransition: { ...noTransition, Migrate: true } };
export const drained = { Drain: true, SchedulingEligibility: 'ineligible' } as const;

export function running(group: Group = {}, fields: JobInput = {}, nodeCount = 3): TestCluster {
  const cluster = new TestCluster(Array.from({ length: nodeCount }, (_, n) => makeNode(`n${n}`)));
  cluster.putJob(system(group, 0, fields));
  cluster.run();
  return cluster;
}

export const nodesOf = (cluster: TestCluster, version?: number) =>
  cluster
    .live()
    .filter((one) => version === undefined || one.JobVersion === version)
    .map((one) => one.NodeID)
    .sort();
export const on = (cluster: TestCluster, nodeId: string) =>
  cluster.live().find((one) => one.NodeID === nodeId)!;
