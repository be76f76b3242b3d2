import type { ExecOutput } from '../../model/exec-session/exec-session.ts';
import { type DriverCommand, type DriverExec, DriverFailure } from './driver.ts';

const killedExitCode = 137;

/**
 * Commands beside the tasks of the mock driver: without a process, and the same every time.
 *
 *     echo WORD … prints the words; `warn WORD …` prints them on the error output exit CODE ends
 *     with the code cat prints what it is given, until its input ends size prints every size that
 *     its terminal gets, until its input ends wait ends with the task
 *
 * Any other cannot be started.
 */
export async function mockExec(
  { command, tty }: DriverCommand,
  taskEnded: Promise<unknown>,
): Promise<DriverExec> {
  const [program = '', ...words] = command;
  const said: ExecOutput[] = [];
  const exit = Promise.withResolvers<{ readonly exitCode: number }>();
  let isOver = false;
  let wake: () => void = () => {};
  const say = (stream: ExecOutput['stream'], data: Uint8Array): void => {
    if (isOver) return;
    said.push({ stream: tty ? 'stdout' : stream, data });
    wake();
  };
  const end = (exitCode: number): void => {
    isOver = true;
    exit.resolve({ exitCode });
    wake();
  };
  const line = (): Uint8Array => new TextEncoder().encode(`${words.join(' ')}\n`);
  void taskEnded.then(() => end(killedExitCode));
  const session: DriverExec = {
    exited: exit.promise,
    output: {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const next = said.shift();
          if (next !== undefined) yield next;
          else if (isOver) return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      },
    },
    async write(data) {
      if (program === 'cat') say('stdout', data);
    },
    closeInput: () => {
      if (program !== 'wait') end(0);
    },
    resize: ({ height, width }) => {
      if (tty && program === 'size') {
        say('stdout', new TextEncoder().encode(`${height} ${width}\n`));
      }
    },
    close: () => end(killedExitCode),
  };
  switch (program) {
    case 'echo':
    case 'warn':
      say(program === 'echo' ? 'stdout' : 'stderr', line());
      end(0);
      break;
    case 'exit':
      end(Number(words[0] ?? 0));
      break;
    case 'cat':
    case 'size':
    case 'wait':
      break;
    default:
      throw new DriverFailure(`the command "${program}" was not found`, false);
  }
  return session;
}
