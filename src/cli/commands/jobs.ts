import type { CommandEntry } from '../command-entry.ts';
import { nounEntry } from './noun-entries.ts';

const loadPolicies = async () => (await import('../job-policy/policy.ts')).jobPolicies;

/** Jobs, their files, and how they are scaled. */
export const jobCommands: readonly CommandEntry[] = [
  {
    words: ['job', 'run'],
    summary: 'Register or update a job and watch it start.',
    load: async () => (await import('../job/run.ts')).jobRun,
  },
  {
    words: ['job', 'plan'],
    summary: 'Show what registering a job would do.',
    load: async () => (await import('../job/plan.ts')).jobPlan,
  },
  {
    words: ['job', 'history'],
    summary: 'Show the versions of a job, with their differences.',
    load: async () => (await import('../job/history.ts')).jobHistory,
  },
  {
    words: ['job', 'validate'],
    summary: 'Say whether a job file is valid.',
    load: async () => (await import('../job/validate.ts')).jobValidate,
  },
  {
    words: ['job', 'init'],
    summary: 'Write an example of a job file.',
    load: async () => (await import('../job/init.ts')).jobInit,
  },
  {
    words: ['fmt'],
    summary: 'Bring job files and policies into their canonical form.',
    load: async () => (await import('../fmt/fmt.ts')).fmt,
  },
  {
    words: ['job', 'status'],
    summary: 'List the jobs, or show a job.',
    load: async () => (await import('../job/status.ts')).jobStatus,
  },
  {
    words: ['job', 'stop'],
    summary: 'Stop a job and watch it end.',
    load: async () => (await import('../job/stop.ts')).jobStop,
  },
  {
    words: ['job', 'dispatch'],
    summary: 'Launch a child of a parameterized job and watch it start.',
    load: async () => (await import('../job/dispatch.ts')).jobDispatch,
  },
  {
    words: ['job', 'periodic', 'force'],
    summary: 'Launch a periodic job now and watch it start.',
    load: async () => (await import('../job/periodic-force.ts')).jobPeriodicForce,
  },
  {
    words: ['job', 'why-not'],
    summary: 'Say why allocations of a job are not placed.',
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
    summary: 'Change the count of a group.',
    load: async () => (await import('../job/scale.ts')).jobScale,
  },
  {
    words: ['job', 'scaling-events'],
    summary: 'List the scaling events of a job.',
    load: async () => (await import('../job/scaling-events.ts')).jobScalingEvents,
  },
  {
    words: ['job', 'action'],
    summary: "Run an action of a job's task.",
    load: async () => (await import('../job/action.ts')).jobAction,
  },
  {
    words: ['job', 'actions'],
    summary: 'List the actions of the tasks of a job.',
    load: async () => (await import('../job/actions.ts')).jobActions,
  },
  nounEntry(['job', 'policy', 'apply'], 'Create or replace a job policy.', loadPolicies, 'create'),
  nounEntry(['job', 'policy', 'list'], 'List the job policies.', loadPolicies, 'list'),
  nounEntry(['job', 'policy', 'read'], 'Show a job policy.', loadPolicies, 'read'),
  nounEntry(['job', 'policy', 'delete'], 'Delete a job policy.', loadPolicies, 'delete'),
  {
    words: ['job', 'policy', 'test'],
    summary: 'Test a job policy on a job file, without an agent.',
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
    summary: 'Start a stopped job again.',
    load: async () => (await import('../job/start.ts')).jobStart,
  },
  {
    words: ['job', 'restart'],
    summary: 'Restart the allocations of a job, batch by batch.',
    load: async () => (await import('../job/restart.ts')).jobRestart,
  },
  {
    words: ['job', 'revert'],
    summary: 'Bring back an earlier version of a job.',
    load: async () => (await import('../job/revert.ts')).jobRevert,
  },
  {
    words: ['job', 'eval'],
    summary: 'Make an evaluation of a job.',
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
    summary: 'Remove a tag from a version of a job.',
    load: async () => (await import('../job/tag.ts')).jobTagUnset,
  },
];
