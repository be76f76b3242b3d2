import { realWorld } from '../../src/base/ports-real.ts';
import type { Job } from '../../src/model/job/job.ts';
import { SqliteEngine } from '../../src/state/engine/sqlite.ts';
import { openState } from '../../src/state/state.ts';
import { allTables, inNamespace, jobSummaries, jobs, jobVersions } from '../../src/state/tables.ts';

/** Without the indexes, which differ in each row. */
const specification = ({ CreateIndex: _, ModifyIndex: __, ...rest }: Job): string =>
  JSON.stringify(rest);

/**
 * Opens the data of the last kill without an agent, and checks rows that the API does not show:
 * every job has its current version and its summary, and each of these has its job.
 */
export async function checkTables(directory: string, highestIndex: number): Promise<string[]> {
  const engine = new SqliteEngine({ directory });
  const state = await openState({ tables: allTables, engine, timers: realWorld.timers });
  const faults: string[] = [];
  const view = state.read();
  if (view.index < highestIndex) {
    faults.push(`the stored index is ${view.index}; ${highestIndex} was acknowledged`);
  }
  for (const job of view.table(jobs).scan()) {
    const key = inNamespace(job.Namespace, job.ID);
    if (!view.table(jobSummaries).has(...key)) faults.push(`job ${job.ID} has no summary`);
    const [newest] = view.table(jobVersions).scan({ prefix: key, reverse: true });
    if (newest === undefined || specification(newest) !== specification(job)) {
      faults.push(`the newest version of job ${job.ID} is not the job`);
    }
  }
  const isOrphan = (namespace: string, id: string) =>
    !view.table(jobs).has(...inNamespace(namespace, id));
  for (const { Namespace, ID } of view.table(jobVersions).scan()) {
    if (isOrphan(Namespace, ID)) faults.push(`a version of job ${ID} is left without it`);
  }
  for (const { Namespace, JobID } of view.table(jobSummaries).scan()) {
    if (isOrphan(Namespace, JobID)) faults.push(`the summary of job ${JobID} is left without it`);
  }
  await state.close();
  return faults;
}
