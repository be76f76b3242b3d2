import type { CommandEntry } from '../command-entry.ts';

/** Jobs, their files, and how they are scaled. */
export const jobCommands: readonly CommandEntry[] = [
  {
    words: ['job', 'run'],
    summary: 'Register or update a job and watch it start.',
    load: async () => (await import('../job/run.ts')).jobRun,
  },
  {
    words: ['job', 'plan'],
    summary: 'Say what registering a job would do.',
    load: async () => (await import('../job/plan.ts')).jobPlan,
  },
  {
    words: ['job', 'history'],
    summary: 'Show the versions of a job, and what changed from one to the next.',
    load: async () => (await import('../job/history.ts')).jobHistory,
  },
  {
    words: ['job', 'validate'],
    summary: 'Say whether a job file is valid.',
    load: async () => (await import('../job/validate.ts')).jobValidate,
  },
  {
    words: ['job', 'init'],
    summary: 'Write a job file to begin with.',
    load: async () => (await import('../job/init.ts')).jobInit,
  },
  {
    words: ['fmt'],
    summary: 'Bring job files and policies into their canonical form.',
    load: async () => (await import('../fmt/fmt.ts')).fmt,
  },
  {
    words: ['job', 'status'],
    summary: 'List the jobs, or show how one fares.',
    load: async () => (await import('../job/status.ts')).jobStatus,
  },
  {
    words: ['job', 'stop'],
    summary: 'Stop a job and watch it end.',
    load: async () => (await import('../job/stop.ts')).jobStop,
  },
  {
    words: ['job', 'dispatch'],
    summary: 'Make a job of a parameterized one and watch it start.',
    load: async () => (await import('../job/dispatch.ts')).jobDispatch,
  },
  {
    words: ['job', 'periodic', 'force'],
    summary: 'Launch a periodic job now and watch it start.',
    load: async () => (await import('../job/periodic-force.ts')).jobPeriodicForce,
  },
  {
    words: ['job', 'why-not'],
    summary: 'Say what stands in the way of what is not placed.',
    load: async () => (await import('../job/why-not.ts')).jobWhyNot,
  },
  {
    words: ['job', 'inspect'],
    summary: 'Print the job as it is registered, as JSON.',
    load: async () => (await import('../job/inspect.ts')).jobInspect,
  },
  {
    words: ['job', 'deployments'],
    summary: 'List the deployments of a job.',
    load: async () => (await import('../job/deployments.ts')).jobDeployments,
  },
  {
    words: ['job', 'promote'],
    summary: "Promote the canaries of a job's latest deployment.",
    load: async () => (await import('../job/promote.ts')).jobPromote,
  },
  {
    words: ['job', 'scale'],
    summary: 'Change how many of a group run.',
    load: async () => (await import('../job/scale.ts')).jobScale,
  },
  {
    words: ['job', 'scaling-events'],
    summary: 'List what was said of the scale of a job.',
    load: async () => (await import('../job/scaling-events.ts')).jobScalingEvents,
  },
  {
    words: ['job', 'action'],
    summary: "Run an action of a job's task.",
    load: async () => (await import('../job/action.ts')).jobAction,
  },
  {
    words: ['job', 'actions'],
    summary: 'List what may be run inside the tasks of a job.',
    load: async () => (await import('../job/actions.ts')).jobActions,
  },
  {
    words: ['job', 'policy', 'apply'],
    summary: 'Create or replace a job policy.',
    load: async () => (await import('../job-policy/policy.ts')).jobPolicyApply,
  },
  {
    words: ['job', 'policy', 'list'],
    summary: 'List the job policies.',
    load: async () => (await import('../job-policy/policy.ts')).jobPolicyList,
  },
  {
    words: ['job', 'policy', 'read'],
    summary: 'Show a job policy.',
    load: async () => (await import('../job-policy/policy.ts')).jobPolicyRead,
  },
  {
    words: ['job', 'policy', 'delete'],
    summary: 'Delete a job policy.',
    load: async () => (await import('../job-policy/policy.ts')).jobPolicyDelete,
  },
  {
    words: ['job', 'policy', 'test'],
    summary: 'Hold a job file against a job policy, without an agent.',
    load: async () => (await import('../job-policy/try.ts')).jobPolicyTest,
  },
  {
    words: ['scaling', 'policy', 'list'],
    summary: 'List the scaling policies of jobs.',
    load: async () => (await import('../scaling/policy.ts')).scalingPolicyList,
  },
  {
    words: ['scaling', 'policy', 'info'],
    summary: 'Show a scaling policy.',
    load: async () => (await import('../scaling/policy.ts')).scalingPolicyInfo,
  },
  {
    words: ['job', 'start'],
    summary: 'Start a job again that was stopped.',
    load: async () => (await import('../job/start.ts')).jobStart,
  },
  {
    words: ['job', 'restart'],
    summary: 'Restart what runs of a job, batch by batch.',
    load: async () => (await import('../job/restart.ts')).jobRestart,
  },
  {
    words: ['job', 'revert'],
    summary: 'Bring back an earlier version of a job.',
    load: async () => (await import('../job/revert.ts')).jobRevert,
  },
  {
    words: ['job', 'eval'],
    summary: 'Let the scheduler look at a job.',
    load: async () => (await import('../job/eval.ts')).jobEval,
  },
  {
    words: ['job', 'allocs'],
    summary: 'List the allocations of a job.',
    load: async () => (await import('../job/allocs.ts')).jobAllocs,
  },
  {
    words: ['job', 'tag', 'apply'],
    summary: 'Keep a version of a job under a name.',
    load: async () => (await import('../job/tag.ts')).jobTagApply,
  },
  {
    words: ['job', 'tag', 'unset'],
    summary: 'Take its name from a version of a job.',
    load: async () => (await import('../job/tag.ts')).jobTagUnset,
  },
];
