import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { nodeCommand } from '../../base/executable.ts';
import type { TerminalSize } from '../../model/exec-session/exec-session.ts';
import type { ExecCommand, ExecPlan } from './exec-command.ts';
import { lineReader, SupervisorRefusal } from './protocol.ts';

/** Started from source this is a sibling `.ts`; in a bundle, `terminal.js` beside the bundle. */
const entry = import.meta.url.endsWith('.ts') ? './terminal-main.ts' : './terminal.js';

const runtimeArguments = ['--max-old-space-size=64', '--max-semi-space-size=1'];

/** Orders of the supervisor to the process that holds a terminal, one line each. */
export type TerminalOrder = { readonly start: ExecPlan } | { readonly size: TerminalSize };

export type TerminalReport =
  | { readonly pid: number }
  | { readonly exitCode: number }
  | { readonly failure: string };

/**
 * Starts a command with a terminal, which a process of its own holds. Rejects with
 * `SupervisorRefusal`. Why a process: DESIGN.md.
 */
export async function startWithTerminal(plan: ExecPlan): Promise<ExecCommand> {
  const [program, ...args] = nodeCommand(runtimeArguments, new URL(entry, import.meta.url));
  const host = spawn(program, args, {
    // Without the task's variables, which could make this program do something else.
    stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'],
    cwd: '/',
  });
  const control = host.stdio[3] as Duplex;
  const data = host.stdio[4] as Duplex;
  for (const one of [host, control, data]) one.on('error', () => {});
  const order = (what: TerminalOrder): void => {
    if (control.writable) control.write(`${JSON.stringify(what)}\n`);
  };
  const started = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<number>();
  const receive = (message: Record<string, unknown>): void => {
    const report = message as unknown as TerminalReport;
    if ('pid' in report) started.resolve(report.pid);
    else if ('exitCode' in report) ended.resolve(report.exitCode);
    else started.reject(new SupervisorRefusal('no-terminal', report.failure));
  };
  control.on(
    'data',
    lineReader(receive, () => host.kill('SIGKILL')),
  );
  // It has reported the pid and the exit code before, or it was killed.
  host.once('exit', () =>
    whenRead(() => {
      started.reject(new SupervisorRefusal('no-terminal', 'the terminal could not be started'));
      ended.resolve(killedExitCode);
    }),
  );
  host.once('error', (error) => {
    started.reject(new SupervisorRefusal('no-terminal', error.message));
  });
  order({ start: plan });
  const pid = await started.promise;
  return {
    pid,
    sources: [{ stream: 'stdout', source: data }],
    input: data,
    ended: ended.promise,
    resize: (size) => order({ size }),
    release: () => {
      host.kill('SIGKILL');
      data.destroy();
      control.destroy();
    },
  };
}

const killedExitCode = 137;

/**
 * Calls back once the reports that a process sent before its end are read: the system may tell of the end first. The process's
 * descendants may hold the other side, so its end is no sign.
 */
function whenRead(run: () => void): void {
  // Between the two callbacks the event loop reads all that has come.
  setImmediate(() => setImmediate(run));
}
