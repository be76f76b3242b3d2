/**
 * Entry of the process that holds one terminal. Descriptor 3 carries orders and reports, a line of
 * JSON each; descriptor 4 carries the bytes, both ways. It ends when the command has ended and all
 * that it printed was taken, or when whoever started it is gone.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { ReadStream } from 'node:tty';
import type { TerminalSize } from '../../model/exec-session/exec-session.ts';
import type { ExecPlan } from './exec-command.ts';
import type { TerminalOrder, TerminalReport } from './exec-terminal.ts';
import { lineReader } from './protocol.ts';

/**
 * The native part of the package. Its own JavaScript gives up on a terminal 200 ms after the
 * command's end, which cuts the output where its reader is slow.
 */
interface NativeTerminals {
  fork(
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
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
  resize(fd: number, columns: number, rows: number): void;
}

const defaultSize: TerminalSize = { height: 24, width: 80 };
const defaultTerm = 'xterm-256color';
/** What a terminal in its usual mode takes for the end of the input. */
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
  // It changes the user and leaves the groups, which are those of whoever runs the agent.
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
      report({ exitCode: signal > 0 ? 128 + signal : code });
      ended.resolve();
    },
  );
  // A command that closes what it has of the terminal before it ends (`cat` does) would be the last that
  // has it, and be hung up by that.
  const held = openSync(pty, constants.O_RDWR | constants.O_NOCTTY);
  void ended.promise.then(() => closeSync(held));
  resize = ({ width, height }) => terminals.resize(fd, width, height);
  report({ pid });
  carry(new ReadStream(fd), ended.promise);
}

/** The bytes, each way at the reader's pace. */
function carry(terminal: ReadStream, ended: Promise<void>): void {
  let endsLine = true;
  data.on('data', (chunk: Buffer) => {
    endsLine = chunk[chunk.length - 1] === newLine;
  });
  data.pipe(terminal, { end: false });
  // Within a line the first one only hands over what there is of it.
  data.on('end', () => terminal.write(endsLine ? endOfInput : endOfInput + endOfInput));
  terminal.pipe(data, { end: false });
  // A terminal that nobody holds any more ends with EIO.
  terminal
    .on('error', () => {})
    .on('close', () => {
      data.end(() => void ended.then(leave));
    });
}
