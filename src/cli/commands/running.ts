import type { CommandEntry } from '../command-entry.ts';

/** Allocations, services, deployments, evaluations and events. */
export const runningCommands: readonly CommandEntry[] = [
  {
    words: ['alloc', 'status'],
    summary: 'List the allocations, or show how one fares.',
    load: async () => (await import('../alloc/status.ts')).allocStatus,
  },
  {
    words: ['alloc', 'why'],
    summary: 'Say why an allocation is on its node.',
    load: async () => (await import('../alloc/why.ts')).allocWhy,
  },
  {
    words: ['alloc', 'fs'],
    summary: 'List or print the files of an allocation.',
    load: async () => (await import('../alloc/fs.ts')).allocFs,
  },
  {
    words: ['alloc', 'logs'],
    summary: 'Print what a task wrote, and follow it.',
    load: async () => (await import('../alloc/logs.ts')).allocLogs,
  },
  {
    words: ['alloc', 'stop'],
    summary: 'Stop an allocation and watch another take its place.',
    load: async () => (await import('../alloc/stop.ts')).allocStop,
  },
  {
    words: ['alloc', 'restart'],
    summary: 'Restart tasks of an allocation.',
    load: async () => (await import('../alloc/restart.ts')).allocRestart,
  },
  {
    words: ['alloc', 'exec'],
    summary: 'Run a command in a task of an allocation.',
    load: async () => (await import('../alloc/exec.ts')).allocExec,
  },
  {
    words: ['alloc', 'signal'],
    summary: 'Send a signal to tasks of an allocation.',
    load: async () => (await import('../alloc/signal.ts')).allocSignal,
  },
  {
    words: ['alloc', 'checks'],
    summary: 'Show how the checks of an allocation fare.',
    load: async () => (await import('../alloc/checks.ts')).allocChecks,
  },
  {
    words: ['service', 'list'],
    summary: 'List the services.',
    load: async () => (await import('../service/service.ts')).serviceList,
  },
  {
    words: ['service', 'info'],
    summary: 'Show where a service is reached.',
    load: async () => (await import('../service/service.ts')).serviceInfo,
  },
  {
    words: ['service', 'delete'],
    summary: 'Take an instance of a service out of the list.',
    load: async () => (await import('../service/service.ts')).serviceDelete,
  },
  {
    words: ['service', 'exported'],
    summary: 'List the services that others may use, and who.',
    load: async () => (await import('../service/exchanged.ts')).serviceExported,
  },
  {
    words: ['service', 'imported'],
    summary: 'List the services of peers that may be used here.',
    load: async () => (await import('../service/exchanged.ts')).serviceImported,
  },
  {
    words: ['deployment', 'list'],
    summary: 'List the deployments.',
    load: async () => (await import('../deployment/list.ts')).deploymentList,
  },
  {
    words: ['deployment', 'status'],
    summary: 'Show how far a deployment has come, and watch it.',
    load: async () => (await import('../deployment/status.ts')).deploymentStatus,
  },
  {
    words: ['deployment', 'promote'],
    summary: 'Promote the canaries of a deployment.',
    load: async () => (await import('../deployment/promote.ts')).deploymentPromote,
  },
  {
    words: ['deployment', 'fail'],
    summary: 'End a deployment as failed.',
    load: async () => (await import('../deployment/act.ts')).deploymentFail,
  },
  {
    words: ['deployment', 'pause'],
    summary: 'Place nothing new of a deployment for now.',
    load: async () => (await import('../deployment/act.ts')).deploymentPause,
  },
  {
    words: ['deployment', 'resume'],
    summary: 'Let a deployment that is paused go on.',
    load: async () => (await import('../deployment/act.ts')).deploymentResume,
  },
  {
    words: ['deployment', 'unblock'],
    summary: 'End a deployment that waits for other regions.',
    load: async () => (await import('../deployment/act.ts')).deploymentUnblock,
  },
  {
    words: ['eval', 'list'],
    summary: 'List the evaluations.',
    load: async () => (await import('../eval/list.ts')).evalList,
  },
  {
    words: ['event', 'stream'],
    summary: 'Print what happens, as it happens.',
    load: async () => (await import('../event/stream.ts')).eventStream,
  },
  {
    words: ['eval', 'status'],
    summary: 'Show what an evaluation decided.',
    load: async () => (await import('../eval/status.ts')).evalStatus,
  },
  {
    words: ['eval', 'delete'],
    summary: 'Forget evaluations.',
    load: async () => (await import('../eval/delete.ts')).evalDelete,
  },
];
