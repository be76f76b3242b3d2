import type { ClientSession } from '../../../../../src/sdk/exec.ts';
import { live } from '../../../app/connection.svelte.ts';

interface About {
  readonly key: number;
  readonly allocation: string;
  readonly namespace: string;
  readonly task: string;
}

/** What a terminal shows: a command, or an action of the job. */
export type TerminalRun =
  | (About & { readonly command: readonly string[] })
  | (About & { readonly job: string; readonly action: string });

export function openSession(run: TerminalRun, signal: AbortSignal): Promise<ClientSession> {
  const { exec } = live().client;
  const { allocation, namespace, task } = run;
  const about = { allocation, namespace, task, tty: true, signal };
  if ('command' in run) return exec.run({ ...about, command: run.command });
  return exec.action({ ...about, job: run.job, action: run.action });
}
