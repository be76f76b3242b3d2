/** A job in the middle of a deployment, in a state without a scheduler. */
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { type Allocation, AllocationSchema } from '../../model/allocation/allocation.ts';
import { complete } from '../../model/complete.ts';
import type { Deployment, DeploymentGroup } from '../../model/deployment/deployment.ts';
import { sampleDeployment } from '../../model/deployment/sample.test-helper.ts';
import { canonicalizeJob } from '../../model/job/canonicalize.ts';
import type { Job, JobInput } from '../../model/job/job.ts';
import type { Input } from '../../model/schema.ts';
import { MemoryDisk } from '../../state/engine/memory.ts';
import { memoryState } from '../../state/state.test-helper.ts';
import {
  allocations,
  allTables,
  deployments,
  evaluations,
  inNamespace,
  jobs,
  jobVersions,
  numberPart,
} from '../../state/tables.ts';
import { type ServerContext, silentLog } from '../context.ts';
import { summarizeGroups } from '../scheduling/job-summary.ts';

export const deploymentId = 'd1111111-0000-4000-8000-000000000001';

export const groupOf = (fields: object = {}): object => ({
  Name: 'web',
  Count: 3,
  Tasks: [{ Name: 'server', Driver: 'mock' }],
  ...fields,
});

export const jobOf = (version: number, fields: JobInput = {}, group: object = {}): Job => ({
  ...canonicalizeJob({ ID: 'web', TaskGroups: [groupOf(group)], ...fields } as JobInput),
  Version: version,
});

export const memberOf = (id: string, fields: Input<Allocation> = {}): Allocation =>
  complete(AllocationSchema, {
    ID: id,
    Namespace: 'default',
    Name: `web.web[${id}]`,
    NodeID: 'n1',
    JobID: 'web',
    JobVersion: 1,
    TaskGroup: 'web',
    DeploymentID: deploymentId,
    ClientStatus: 'running',
    ...fields,
  });

export interface RolloutOptions {
  readonly disk?: MemoryDisk;
  readonly world?: SimulatedWorld;
}

export async function openRollout({ disk = new MemoryDisk(), world }: RolloutOptions = {}) {
  const ticking = world ?? new SimulatedWorld(1);
  const state = await memoryState(allTables, ticking, disk);
  const context = {
    state,
    world: ticking,
    log: silentLog,
    region: 'global',
    openEvaluations: () => 0,
  } as unknown as ServerContext;
  const read = () => state.read();
  const of = () => ({ prefix: inNamespace('default', 'web') });
  const write = (row: Allocation | Deployment) =>
    state.write((transaction) => {
      if ('TaskGroups' in row) transaction.table(deployments).put(row);
      else transaction.table(allocations).put(row);
    });
  return {
    disk,
    world: ticking,
    state,
    context,
    write,
    /** Writes the versions of the job, of which the last is the current one, and its deployment. */
    async begin(
      versions: readonly Job[],
      group: Input<DeploymentGroup> = {},
      fields: Input<Deployment> = {},
    ): Promise<void> {
      await state.write((transaction) => {
        for (const version of versions) {
          const CreateIndex = transaction.index;
          const stored = transaction.table(jobs).put({ ...version, CreateIndex });
          transaction.table(jobVersions).put({ ...stored, Stable: version.Stable });
          summarizeGroups(transaction, stored);
        }
        const deployment = sampleDeployment(group, {
          ID: deploymentId,
          JobVersion: versions.at(-1)!.Version,
          ...fields,
        });
        const JobCreateIndex = transaction.index;
        transaction.table(deployments).put({ ...deployment, JobCreateIndex });
      });
    },
    deployment: (): Deployment =>
      read()
        .table(deployments)
        .get(...inNamespace('default', deploymentId))!,
    member: (id: string): Allocation =>
      read()
        .table(allocations)
        .get(...inNamespace('default', id))!,
    job: (): Job =>
      read()
        .table(jobs)
        .get(...inNamespace('default', 'web'))!,
    version: (number: number): Job | undefined =>
      read()
        .table(jobVersions)
        .get(...inNamespace('default', 'web', numberPart(number))),
    evaluations: () => [...read().table(evaluations).by('job').scan(of())],
  };
}
