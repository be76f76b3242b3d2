import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** Has the first line of the command's output as its message. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/**
 * A shell that stays and runs one command after the other. Starting a program blocks a process for
 * longer the more memory it has, an agent for tens of milliseconds; the shell is small and starts
 * programs instead. It ends with its agent, however that ends, as its input closes.
 */
export class MountShell {
  #child: Shell | undefined;
  readonly #waiting: PromiseWithResolvers<string>[] = [];

  /** Rejects with {@link CommandFailure} when the command fails. */
  async run(command: string): Promise<void> {
    const answer = Promise.withResolvers<string>();
    this.#waiting.push(answer);
    this.#child ??= this.#start();
    this.#child.stdin.write(
      `said=$( { ${command}\n} 2>&1 </dev/null )\nprintf '%s %s\\n' "$?" "\${said%%"$line"*}"\n`,
    );
    const [, code, said] = /^(\d+) (.*)$/.exec(await answer.promise) ?? [];
    if (code !== '0') throw new CommandFailure(said || `it ended with ${code}`, Number(code));
  }

  close(): void {
    this.#child?.stdin.end();
    this.#child = undefined;
  }

  #start(): Shell {
    const child = spawn('/bin/sh', ['-s'], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const over = (reason: string): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      for (const { reject } of this.#waiting.splice(0)) reject(new Error(reason));
    };
    child.stdin.on('error', () => {}).write("umask 077\nline='\n'\n");
    child.once('error', ({ message }) => over(message));
    child.once('close', (code, signal) => over(`the shell ended with ${signal ?? code}`));
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#waiting.shift()?.resolve(line);
    });
    return child;
  }
}

type Shell = ChildProcessByStdio<Writable, Readable, null>;
