/** The jobs that `holds.ts` evaluates, on the mixed fleet of `scheduler-load.ts`. */
import type { Job, JobInput } from '../src/model/job/job.ts';
import { makeGroup, makeJob, makeTask } from '../src/scheduler/cluster.test-helper.ts';

const many = 10_000;
const most = 50_000;

const groupOf = (Count: number, fields: Parameters<typeof makeGroup>[0] = {}, version = 0) => {
  const Env = { VERSION: String(version) };
  const Tasks = [makeTask({ Resources: { CPU: 10, MemoryMB: 10 }, Env })];
  return makeGroup({ Count, Tasks, ...fields });
};
const twoPorts = { Networks: [{ DynamicPorts: [{ Label: 'http' }, { Label: 'admin' }] }] };
const overRacks = [{ Attribute: '${meta.rack}', Weight: 50 }];
const big = (count: number, version: number, fields: JobInput = {}): Job =>
  makeJob({ ID: 'big', ...fields, TaskGroups: [groupOf(count, {}, version)] });

/** The jobs to register one after another; `undefined` repeats the evaluation without a change. */
export const evaluations: readonly (readonly [title: string, job: Job | undefined])[] = [
  [`${many} with two ports each`, makeJob({ ID: 'ports', TaskGroups: [groupOf(many, twoPorts)] })],
  ['the same again', undefined],
  [
    `${many} over 50 racks`,
    makeJob({ ID: 'spread', Spreads: overRacks, TaskGroups: [groupOf(many)] }),
  ],
  ['one on every node', makeJob({ ID: 'all', Type: 'system', TaskGroups: [groupOf(1)] })],
  ['the same again', undefined],
  [`${most} are placed`, big(most, 0)],
  ['the same again', undefined],
  ['a new version of them', big(most, 1)],
  ['fewer of them', big(most / 2, 1)],
  ['they are stopped', big(most / 2, 1, { Stop: true })],
];
