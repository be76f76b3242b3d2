import type { Timer } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { ClientSession } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { OptionDefinition } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError, Interrupted } from '../errors.ts';
import type { Options } from '../options.ts';
import { EscapeFilter } from './escape.ts';

/** Exit code of an error of the CLI. Every other code may come from the command. */
export const sessionErrorExitCode = 255;

/** Options of `alloc exec` and `job action`. */
export const sessionOptions: readonly OptionDefinition[] = [
  { name: 'stdin', letter: 'i', description: 'Pass on standard input (the default).' },
  { name: 'no-stdin', description: 'Do not read standard input.' },
  {
    name: 'tty',
    letter: 't',
    description: 'With a terminal (the default if input and output are a terminal).',
  },
  { name: 'no-tty', description: 'Without a terminal.' },
  { name: 'it', description: 'The same as -i -t.' },
  {
    name: 'escape',
    letter: 'e',
    value: 'CHAR',
    description:
      'With a terminal, CHAR and a dot at the beginning of a line end the session (~; none).',
  },
];

export const sessionDetails = `The exit code is that of the command; ${sessionErrorExitCode} says that it could not be run.`;

export interface SessionWish {
  readonly tty: boolean;
  readonly passesInput: boolean;
  /** Empty: only the command ends the session. */
  readonly escapeCharacter: string;
}

/** @throws CliError */
export function sessionWish(options: Options, { terminal }: CliEnvironment): SessionWish {
  const character = options.text('escape') ?? '~';
  if (character !== 'none' && !/^[\x21-\x7e]$/.test(character)) {
    throw new CliError(`-e must be one character or "none", got "${character}".`);
  }
  const asked = options.flag('tty') || options.flag('it');
  return {
    tty: !options.flag('noTty') && (asked || terminal !== undefined),
    passesInput: !options.flag('noStdin'),
    escapeCharacter: character === 'none' ? '' : character,
  };
}

/**
 * Connects a session with this process's input and output until its command ends; returns its exit code.
 * @throws Interrupted if the user ended the session first
 */
export async function joinSession(
  context: Context,
  wish: SessionWish,
  open: (signal: AbortSignal) => Promise<ClientSession>,
): Promise<number> {
  return context.untilInterrupted(async (signal) => {
    const session = await open(signal);
    const leave = (): void => session.close();
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    const { environment } = context;
    const restore = wish.tty ? takeTerminal(environment, session) : () => {};
    const beats = heartbeats(environment, session);
    const hasLeft = new AbortController();
    try {
      void passInput(environment, wish, session, () => {
        hasLeft.abort();
        leave();
      });
      for await (const { stream, data } of session.output) await environment[stream].write(data);
      return (await session.exited).exitCode;
    } catch (error) {
      if (signal.aborted || hasLeft.signal.aborted) throw new Interrupted();
      throw error;
    } finally {
      beats.clear();
      restore();
      session.close();
      environment.stdin.close?.();
    }
  });
}

/** Sends every key and the size of the window to the command. The result undoes that. */
function takeTerminal({ terminal }: CliEnvironment, session: ClientSession): () => void {
  if (terminal === undefined) return () => {};
  terminal.setRaw(true);
  session.resize(terminal.size());
  const forget = terminal.onResize(() => session.resize(terminal.size()));
  return () => {
    forget();
    terminal.setRaw(false);
  };
}

function heartbeats({ timers }: CliEnvironment, session: ClientSession): { clear(): void } {
  let timer: Timer;
  const beat = (): void => {
    session.heartbeat();
    timer = timers.after(limits.exec.heartbeatIntervalMs, beat);
  };
  timer = timers.after(limits.exec.heartbeatIntervalMs, beat);
  return { clear: () => timer.clear() };
}

async function passInput(
  { stdin, terminal }: CliEnvironment,
  { tty, passesInput, escapeCharacter }: SessionWish,
  session: ClientSession,
  leave: () => void,
): Promise<void> {
  if (!passesInput) {
    // A shell in a terminal would end at the end of its input.
    if (!tty) session.closeInput();
    return;
  }
  const filter = new EscapeFilter(tty && terminal !== undefined ? escapeCharacter : '');
  try {
    for await (const typed of stdin.read()) {
      const { data, leaves } = filter.filter(typed);
      if (data.length > 0) await session.write(data);
      if (leaves) {
        leave();
        return;
      }
    }
    session.closeInput();
  } catch {
    // The input was closed because the command has ended, or it cannot be read: both end it.
    session.closeInput();
  }
}
