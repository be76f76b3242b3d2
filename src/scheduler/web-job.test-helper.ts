/** A job with a single group that is updated all at once, and a cluster on which it runs. */
import type { JobInput } from '../model/job/job.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from './cluster.test-helper.ts';

export type Group = Parameters<typeof makeGroup>[0];

export const nodes = (count: number) => Array.from({ length: count }, (_, n) => makeNode(`n${n}`));

const atOnce = { MaxParallel: 0 };

export const web = (group: Group = {}, version = 0, fields: JobInput = {}, createIndex = 10) =>
  makeJob(
    { ...fields, TaskGroups: [makeGroup({ Update: fields.Type ? null : atOnce, ...group })] },
    version,
    createIndex,
  );

export function running(group: Group = {}, fields: JobInput = {}, nodeCount = 3): TestCluster {
  const cluster = new TestCluster(nodes(nodeCount));
  cluster.putJob(web(group, 0, fields));
  cluster.run();
  return cluster;
}

export const names = (...indexes: number[]) => indexes.map((index) => `job.web[${index}]`);
export const changedTask = { Tasks: [makeTask({ Env: { A: 'b' } })] };
