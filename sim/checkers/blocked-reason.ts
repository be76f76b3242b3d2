import { explain } from '../../src/scheduler/explain.ts';
import { schedulerDefaults } from '../../src/scheduler/view.ts';
import { clusterView } from '../../src/server/evaluations/view.ts';
import { evaluations, inNamespace, jobs } from '../../src/state/tables.ts';
import type { Checker } from './checker.ts';

/** At rest, what waits for room finds none: no node at all would take one more of its groups. */
export const blockedReasonIsTrue = (): Checker => ({
  guarantee: 'a blocked evaluation has a reason that is true',
  rested({ view }, fault) {
    for (const evaluation of view.table(evaluations).by('open').scan()) {
      const { ID, Status, Namespace, JobID, FailedTGAllocs } = evaluation;
      if (Status !== 'blocked') {
        // A delayed one waits for its time.
        if (evaluation.WaitUntil === 0) fault(`evaluation ${ID} of ${JobID} is still ${Status}`);
        continue;
      }
      const job = view.table(jobs).get(...inNamespace(Namespace, JobID));
      if (job === undefined || job.Type === 'system' || job.Type === 'sysbatch') continue;
      const failed = new Set(Object.keys(FailedTGAllocs ?? {}));
      const cluster = clusterView(view, schedulerDefaults);
      for (const group of job.TaskGroups.filter(({ Name }) => failed.has(Name))) {
        const open = explain(cluster, job, group).find(({ verdict }) => verdict === 'open');
        if (open === undefined) continue;
        fault(`${JobID}.${group.Name} waits for room and ${open.nodeName} has it`);
      }
    }
  },
});
