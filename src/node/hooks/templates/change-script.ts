import { durationMs } from '../../../base/duration.ts';
import { delay, type Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import type { Template } from '../../../model/task/files.ts';
import type { Driver } from '../../drivers/driver.ts';

type ChangeScript = NonNullable<Template['ChangeScript']>;

/** Runs a script beside the task. Resolves with the reason if it fails. Never rejects. */
export async function runChangeScript(
  script: ChangeScript,
  { driver, runId, timers }: { driver: Driver | undefined; runId: string; timers: Timers },
): Promise<string | undefined> {
  const { Command, Args, Timeout } = script;
  if (driver?.exec === undefined) return 'the driver cannot run commands in a task';
  try {
    const command = [Command, ...(Args ?? [])];
    const exec = await driver.exec(runId, { command, tty: false });
    exec.closeInput();
    const over = new AbortController();
    const late = delay(timers, durationMs(Timeout), over.signal).then(() => 'late' as const);
    const output = drain(exec.output);
    const end = await Promise.race([exec.exited, late]);
    over.abort();
    exec.close();
    if (end === 'late') return `it did not end within ${durationMs(Timeout)} ms`;
    if (end.exitCode === 0) return undefined;
    const said = await output;
    return `it ended with code ${end.exitCode}${said === '' ? '' : `: ${said}`}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The beginning of its output; the rest is read too, or the command would hang. */
async function drain(
  output: AsyncIterable<{ readonly stream: 'stdout' | 'stderr'; readonly data: Uint8Array }>,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const { stream, data } of output) {
      const room = limits.template.scriptOutputMax - text.length;
      if (stream === 'stderr' && room > 0) text += decoder.decode(data.subarray(0, room));
    }
  } catch {
    // The command has ended; its output until then counts.
  }
  return text.trim();
}
