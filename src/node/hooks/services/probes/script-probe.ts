import { BoundedOutput, type Probed, type ProbeWish } from './probe.ts';

/** A command in the task: 0 passes, 1 warns, all else fails. */
export async function scriptProbe({ check, exec, signal }: ProbeWish): Promise<Probed> {
  const run = await exec({ command: [check.Command, ...(check.Args ?? [])], tty: false });
  const close = (): void => run.close();
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  try {
    run.closeInput();
    const output = new BoundedOutput();
    // Read to its end, as a command that is not read would wait for ever.
    for await (const { data } of run.output) output.add(data);
    const { exitCode } = await run.exited;
    const outcome = exitCode === 0 ? 'passing' : exitCode === 1 ? 'warning' : 'critical';
    const ended = exitCode === 0 ? '' : `exit code ${exitCode}: `;
    return { outcome, statusCode: 0, output: `${ended}${output.text}`.trimEnd() };
  } finally {
    signal.removeEventListener('abort', close);
  }
}
