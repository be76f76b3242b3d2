import type { Command } from './definition.ts';

export interface CommandEntry {
  /** `['job', 'run']` */
  readonly words: readonly string[];
  readonly summary: string;
  /** A command's code is only loaded when it is used. */
  readonly load: () => Promise<Command>;
}

/** The words that stand before commands, and what they are about. */
export const groups: Readonly<Record<string, string>> = {
  job: 'Run, look at and stop jobs.',
  alloc: 'Look at allocations and read their logs.',
  node: 'Look at the machines that run them.',
  eval: 'Look at the decisions of the scheduler.',
};

export const commands: readonly CommandEntry[] = [
  {
    words: ['agent'],
    summary: 'Start an agent: server and node in one process.',
    load: async () => (await import('./agent/agent.ts')).agent,
  },
  {
    words: ['job', 'run'],
    summary: 'Register or update a job and watch it start.',
    load: async () => (await import('./job/run.ts')).jobRun,
  },
  {
    words: ['job', 'status'],
    summary: 'List the jobs, or show how one fares.',
    load: async () => (await import('./job/status.ts')).jobStatus,
  },
  {
    words: ['job', 'stop'],
    summary: 'Stop a job and watch it end.',
    load: async () => (await import('./job/stop.ts')).jobStop,
  },
  {
    words: ['job', 'inspect'],
    summary: 'Print the job as it is registered, as JSON.',
    load: async () => (await import('./job/inspect.ts')).jobInspect,
  },
  {
    words: ['alloc', 'status'],
    summary: 'List the allocations, or show how one fares.',
    load: async () => (await import('./alloc/status.ts')).allocStatus,
  },
  {
    words: ['alloc', 'logs'],
    summary: 'Print what a task wrote, and follow it.',
    load: async () => (await import('./alloc/logs.ts')).allocLogs,
  },
  {
    words: ['node', 'status'],
    summary: 'List the nodes, or show how one fares.',
    load: async () => (await import('./node/status.ts')).nodeStatus,
  },
  {
    words: ['eval', 'status'],
    summary: 'Show what an evaluation decided.',
    load: async () => (await import('./eval/status.ts')).evalStatus,
  },
  {
    words: ['version'],
    summary: 'Print the version of this program.',
    load: async () => (await import('./version.ts')).version,
  },
  {
    words: ['completion'],
    summary: 'Print a completion script for your shell.',
    load: async () => (await import('./completion/completion.ts')).completion,
  },
];
