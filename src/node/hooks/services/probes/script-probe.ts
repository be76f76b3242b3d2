import { BoundedOutput, type Probed, type ProbeWish } from './probe.ts';

/** Runs a command in the task: exit code 0 passes, 1 warns, any other fails. */
export async function scriptProbe({ check, exec, signal }: ProbeWish): Promise<Probed> {
  const run = await exec({ command: [check.Command, ...(check.Args ?? [])], tty: false });
  const close = (): void => run.close();
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  try {
    run.closeInput();
    const output = new BoundedOutput();
    // Reads to the end, as an unread command would wait for ever.
    for await (const { data } of run.output) output.add(data);
    const { exitCode } = await run.exited;
    const outcome = exitCode === 0 ? 'passing' : exitCode === 1 ? 'warning' : 'critical';
    const ended = exitCode === 0 ? '' : `exit code ${exitCode}: `;
    return { outcome, statusCode: 0, output: `${ended}${output.text}`.trimEnd() };
  } finally {
    signal.removeEventListener('abort', close);
  }
}
