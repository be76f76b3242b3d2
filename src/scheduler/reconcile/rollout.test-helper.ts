import type { Deployment } from '../../model/deployment/deployment.ts';
import type { JobInput } from '../../model/job/job.ts';
import { makeGroup, makeJob, makeNode, makeTask, TestCluster } from '../cluster.test-helper.ts';

export type Group = Parameters<typeof makeGroup>[0];

export const web = (group: Group = {}, version = 0, fields: JobInput = {}) =>
  makeJob({ ...fields, TaskGroups: [makeGroup(group)] }, version);
export const names = (...indexes: number[]) => indexes.map((index) => `job.web[${index}]`);
export const changed = (value: string) => ({ Tasks: [makeTask({ Env: { A: value } })] });
export const ofVersion = (cluster: TestCluster, version: number) =>
  cluster
    .live()
    .filter((one) => one.JobVersion === version)
    .map((one) => one.Name)
    .sort();
export const newest = (cluster: TestCluster): Deployment => cluster.deployments.at(-1)!;
export const set = (cluster: TestCluster, fields: Partial<Deployment>) =>
  cluster.putDeployment({ ...newest(cluster), ...fields });

/** The job after a successful first deployment. */
export function rolledOut(group: Group = {}, fields: JobInput = {}, nodeCount = 3): TestCluster {
  const cluster = new TestCluster(
    Array.from({ length: nodeCount }, (_, n) => makeNode(`n${n}`, { cpu: 2000, memory: 2000 })),
  );
  cluster.putJob(web(group, 0, fields));
  cluster.run();
  cluster.allHealthy();
  cluster.run();
  return cluster;
}
