/** Mistakes of jobs, evaluations and deployments. */
import type { Mistake, Place } from './mistake.ts';

/** Removes the second way by which allocations of a purged job are stopped. */
const healing: Place = {
  file: 'src/server/nodes/report.ts',
  right: 'if (job === undefined) evaluateOrphans(transaction, world, moves);',
  wrong: '',
};

export const ofJobs: readonly Mistake[] = [
  {
    name: 'a purge creates no evaluation',
    places: [
      {
        file: 'src/server/jobs/stop.ts',
        right: 'const evaluation = isEvaluated(job)',
        wrong: 'const evaluation = isEvaluated(job) && !stop.purge',
      },
      healing,
    ],
    guarantee: 'every running allocation has a job',
    life: { seed: 3, nodes: 6, hours: 0.25 },
  },
  {
    name: 'an evaluation that ended cancels an open one',
    places: [
      {
        file: 'src/server/scheduling/evaluations/dispatcher.ts',
        right: 'this.cancel(this.broker.end(endedBy(changes)), superseded);',
        wrong: '',
      },
      {
        file: 'src/server/scheduling/evaluations/broker.ts',
        right: 'evaluation.CreateIndex > CreateIndex;',
        wrong: 'false;',
      },
      healing,
    ],
    guarantee: 'every running allocation has a job',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a request for a missing job fails with an internal error',
    places: [
      {
        file: 'src/server/jobs/find.ts',
        right: "throw refusal('job-not-found', { job: id, namespace });",
        wrong: "throw new Error('the job is gone');",
      },
    ],
    guarantee: 'no answer is unexpected',
    life: { seed: 4, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a rollback goes to the oldest stable version',
    places: [
      {
        file: 'src/model/deployment/rollback.ts',
        right: 'version.Version > (target?.Version ?? -1)',
        wrong: 'version.Version < (target?.Version ?? Number.MAX_SAFE_INTEGER)',
      },
    ],
    guarantee: 'auto-revert goes to the newest stable version',
    life: { seed: 3, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a rollback goes to a version that was never stable',
    places: [
      {
        file: 'src/model/deployment/rollback.ts',
        right: 'version.Stable && !version.Stop &&',
        wrong: 'version.Version !== current.Version && !version.Stop &&',
      },
    ],
    guarantee: 'auto-revert goes to the newest stable version',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'free room wakes no blocked evaluation',
    places: [
      {
        file: 'src/server/scheduling/evaluations/dispatcher.ts',
        right: 'if (node !== undefined) this.#madeRoom(node, index);',
        wrong: '',
      },
    ],
    guarantee: 'a blocked evaluation has a true reason',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'open evaluations are forgotten at a restart',
    places: [
      {
        file: 'src/server/scheduling/evaluations/dispatcher.ts',
        right: "of state.read().table(evaluations).by('open').scan()) {",
        wrong: 'of []) {',
      },
    ],
    guarantee: 'a blocked evaluation has a true reason',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a summary keeps counting allocations as unknown',
    places: [
      {
        file: 'src/model/job-summary/job-summary-rules.ts',
        right: "new Set(['Complete', 'Failed'])",
        wrong: "new Set(['Complete', 'Failed', 'Unknown'])",
      },
    ],
    guarantee: "a job's status and summary agree with its allocations",
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a schedule ignores ProhibitOverlap',
    places: [
      {
        file: 'src/server/jobs/launch.ts',
        right:
          "if (job.Periodic!.ProhibitOverlap && hasActiveChild(transaction, job)) return 'overlap';",
        wrong: '',
      },
    ],
    guarantee: 'no periodic slot launches twice',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a dispatch ignores its idempotency token',
    places: [
      {
        file: 'src/server/jobs/dispatch.ts',
        right: 'if (earlier !== undefined) return { job: earlier, evaluation: undefined };',
        wrong: '',
      },
    ],
    guarantee: 'an idempotency token dispatches once',
    life: { seed: 5, nodes: 6, hours: 0.25 },
  },
];
