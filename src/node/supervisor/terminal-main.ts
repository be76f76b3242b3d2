/**
 * Entry of the process that holds one terminal. Descriptor 3 carries orders and reports, each a
 * line of JSON; descriptor 4 carries the bytes in both directions. The process ends when the
 * command has ended and its output has been read, or when the supervisor is gone.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { ReadStream } from 'node:tty';
import type { TerminalSize } from '../../model/exec-session/exec-session.ts';
import type { ExecPlan } from './exec-command.ts';
import type { TerminalOrder, TerminalReport } from './exec-terminal.ts';
import { firstSignal, lineReader } from './protocol.ts';

/** The native function's own order. */
type ForkArguments = [
  file: string,
  args: readonly string[],
  env: readonly string[],
  directory: string,
  columns: number,
  rows: number,
  uid: number,
  gid: number,
  isUtf8: boolean,
  helperPath: string,
  onExit: (code: number, signal: number) => void,
];

/**
 * The native part of the package. The package's JavaScript gives up on a terminal 200 ms after the
 * command's end, which would cut the output for a slow reader.
 */
interface NativeTerminals {
  fork(...command: ForkArguments): {
    readonly fd: number;
    readonly pid: number;
    readonly pty: string;
  };
  resize(fd: number, columns: number, rows: number): void;
}

const defaultSize: TerminalSize = { height: 24, width: 80 };
const defaultTerm = 'xterm-256color';
/** The character that ends the input of a terminal in its usual mode. */
const endOfInput = '\x04';
const newLine = 10;

const control = new Socket({ fd: 3 });
const data = new Socket({ fd: 4, allowHalfOpen: true });
let resize: (size: TerminalSize) => void = () => {};

const report = (what: TerminalReport): void => void control.write(`${JSON.stringify(what)}\n`);
const leave = (): never => process.exit(0);

control.on('error', leave).on('close', leave);
data.on('error', leave);
control.on(
  'data',
  lineReader((message) => {
    const order = message as unknown as TerminalOrder;
    if ('size' in order) resize(order.size);
    else begin(order.start);
  }, leave),
);

function begin(plan: ExecPlan): void {
  try {
    start(plan);
  } catch (error) {
    report({ failure: `there is no terminal to be had: ${(error as Error).message}` });
  }
}

function start({ program, args, env, directory, owner }: ExecPlan): void {
  const load = createRequire(import.meta.url)('@lydell/node-pty/requireBinary') as {
    requireBinary(name: string): NativeTerminals;
  };
  const terminals = load.requireBinary('pty.node');
  // The native part changes the user but not the groups, which would stay the agent's.
  if (owner !== undefined && process.getuid?.() === 0) process.setgroups?.([]);
  const ended = Promise.withResolvers<void>();
  const variables = Object.entries({ TERM: defaultTerm, ...env });
  const { fd, pid, pty } = terminals.fork(
    program,
    args,
    variables.map(([name, value]) => `${name}=${value}`),
    directory,
    defaultSize.width,
    defaultSize.height,
    owner?.uid ?? -1,
    owner?.gid ?? -1,
    true,
    '',
    (code, signal) => {
      report({ exitCode: signal > 0 ? firstSignal + signal : code });
      ended.resolve();
    },
  );
  // A command such as `cat` closes the terminal before it ends. Without this descriptor that would
  // be the last one, and the command would be hung up.
  const held = openSync(pty, constants.O_RDWR | constants.O_NOCTTY);
  void ended.promise.then(() => closeSync(held));
  resize = ({ width, height }) => terminals.resize(fd, width, height);
  report({ pid });
  carry(new ReadStream(fd), ended.promise);
}

/** Copies the bytes in both directions, at each reader's pace. */
function carry(terminal: ReadStream, ended: Promise<void>): void {
  let endsLine = true;
  data.on('data', (chunk: Buffer) => {
    endsLine = chunk[chunk.length - 1] === newLine;
  });
  data.pipe(terminal, { end: false });
  // Within a line the first one only delivers the unfinished line.
  data.on('end', () => terminal.write(endsLine ? endOfInput : endOfInput + endOfInput));
  terminal.pipe(data, { end: false });
  // Reading a terminal that no process holds ends with EIO.
  terminal
    .on('error', () => {})
    .on('close', () => {
      data.end(() => void ended.then(leave));
    });
}
