/** One terminal, into which a guide's commands are pasted block by block. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { kill } from '../support/agent.ts';

export interface Ran {
  readonly exitCode: number;
  /** What it printed, errors included, as a terminal shows it. */
  readonly output: string;
  /** Of the block: where the command stands that failed; 0 when none did. */
  readonly failedLine: number;
}

export interface Shell {
  /**
   * Runs a block up to its first command that fails. Rejects when the shell ends by it, and when it
   * does not end in time.
   */
  run(text: string): Promise<Ran>;
  close(): Promise<void>;
}

const patienceMs = 100_000;

interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where the blocks and what they print are put. */
  readonly directory: string;
}

/**
 * Each block is a file that the one shell sources, so that variables and directories go on from
 * block to block. The shell tells on its third descriptor how it ended.
 */
export function openShell({ cwd, env, directory }: ShellOptions): Shell {
  const bash = spawn('bash', ['--noprofile', '--norc'], {
    cwd,
    env,
    // A group of its own, so that whatever it waits for can be ended with it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  const { stdin } = bash;
  stdin!.on('error', () => {});
  const ended = once(bash, 'close');
  const answers = createInterface(bash.stdio[3] as NodeJS.ReadableStream)[Symbol.asyncIterator]();
  let count = 0;
  return {
    async run(text) {
      const file = join(directory, `block-${++count}`);
      writeFileSync(file, `${stopAtFailure}\n${text}`);
      writeFileSync(`${file}.out`, '');
      // Processes in the background must not hold the descriptor open.
      const output = `>'${file}.out' 2>&1 3>&-`;
      stdin!.write(`failed_line=1; . '${file}' </dev/null ${output}; echo "$? $failed_line" >&3\n`);
      const isLate = setTimeout(() => kill(-bash.pid!, 'SIGKILL'), patienceMs);
      const { value, done } = await answers.next();
      clearTimeout(isLate);
      const printed = readFileSync(`${file}.out`, 'utf8');
      if (done === true) throw new Error(`the shell ended, or was late; it printed:\n${printed}`);
      const [exitCode = 1, line = 1] = String(value).split(' ').map(Number);
      return { exitCode, output: printed, failedLine: line - 1 };
    },
    async close() {
      stdin!.end();
      await ended;
      // Commands of the guide may still run in the background.
      kill(-bash.pid!, 'SIGKILL');
    },
  };
}

/** One line, so that the block's own begin with the second. */
const stopAtFailure =
  "trap 'failed_code=$?; failed_line=$LINENO; trap - ERR; return $failed_code' ERR";
