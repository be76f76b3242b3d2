import { StreamFault } from '../model/node-stream/byte-stream.ts';
import type { StreamHandler } from '../model/node-stream/stream-connection.ts';
import { CommandRefusal, type RestartWish, type SignalWish } from './allocation-runner/commands.ts';
import { DriverFailure } from './drivers/driver.ts';

/** The part of an allocation's runner that commands need. */
export interface CommandTarget {
  restart(wish: RestartWish): Promise<void>;
  signal(wish: SignalWish): Promise<void>;
}

export type FindTarget = (id: string) => CommandTarget | undefined;

/** Streams of the kind `restart`: `alloc_id`, `task` and `all`. Nothing is written on them. */
export const restartHandler =
  (find: FindTarget): StreamHandler =>
  (_stream, given) =>
    act(find, given, (target) =>
      target.restart({ task: textIn(given, 'task'), all: given.all === true }),
    );

/** Streams of the kind `signal`: `alloc_id`, `task` and `signal`. Nothing is written on them. */
export const signalHandler =
  (find: FindTarget): StreamHandler =>
  (_stream, given) =>
    act(find, given, (target) =>
      target.signal({ task: textIn(given, 'task'), signal: textIn(given, 'signal') }),
    );

async function act(
  find: FindTarget,
  given: Readonly<Record<string, unknown>>,
  run: (target: CommandTarget) => Promise<void>,
): Promise<void> {
  const id = textIn(given, 'alloc_id');
  const target = find(id);
  if (target === undefined) {
    const message = `The allocation "${id}" is not on its node any more.`;
    throw new StreamFault({ status: 404, code: 'allocation-not-found', message });
  }
  try {
    await run(target);
  } catch (error) {
    throw commandFault(error);
  }
}

/** A runner's refusal or a driver's failure as a fault of the stream; any other error as it is. */
export function commandFault(error: unknown): unknown {
  if (error instanceof CommandRefusal) {
    const { code, message } = error;
    return new StreamFault({ status: code === 'not-running' ? 400 : 404, code, message });
  }
  if (!(error instanceof DriverFailure)) return error;
  const message = `The driver refuses: ${error.message}.`;
  return new StreamFault({ status: 400, code: 'malformed-request', message });
}

const textIn = (given: Readonly<Record<string, unknown>>, name: string): string => {
  const value = given[name];
  return typeof value === 'string' ? value : '';
};
