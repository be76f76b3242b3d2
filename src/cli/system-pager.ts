import { spawn } from 'node:child_process';

/** The exit codes of a shell that does not find a command, or may not run it. */
const notStarted = new Set([126, 127]);

/** Shows a text by a pager, until its user leaves it. Returns whether the pager could be started. */
export function showByPager(
  process: Pick<NodeJS.Process, 'env' | 'on' | 'off'>,
  command: string,
  text: string,
): Promise<boolean> {
  return new Promise((resolve) => {
    // As git does it: less shows colours, and leaves the text on the screen.
    const env = { LESS: 'FRX', ...process.env };
    const pager = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env });
    const ignore = () => {};
    // A Ctrl-C is for the pager.
    process.on('SIGINT', ignore);
    const end = (isShown: boolean) => {
      process.off('SIGINT', ignore);
      resolve(isShown);
    };
    pager.on('error', () => end(false));
    pager.on('close', (code) => end(!notStarted.has(code ?? 0)));
    // A pager that is left early closes its input.
    pager.stdin.on('error', ignore);
    pager.stdin.end(text);
  });
}
