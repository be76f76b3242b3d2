import type { ExecSession } from '../../model/exec-session/exec-session.ts';
import { serveExec } from '../../model/exec-session/exec-stream.ts';
import { limits } from '../../model/limits.ts';
import { StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { StreamHandler } from '../../model/node-stream/stream-connection.ts';
import type { ExecWish } from '../allocation-runner/commands.ts';
import { commandFault } from '../command-handlers.ts';

/** The part of an allocation's runner that commands beside its tasks need. */
export interface ExecTarget {
  exec(wish: ExecWish): Promise<ExecSession>;
}

export interface ExecHandlerOptions {
  readonly allocation: (id: string) => ExecTarget | undefined;
  readonly isDisabled: () => boolean;
}

/**
 * Streams of the kind `exec`, with the parameters `alloc_id`, `task`, `command` and `tty`; their
 * frames are in `model/exec-session/exec-frames.ts`.
 * Source: docs/guides/actions-and-exec.md#without-the-command-line.
 */
export function execHandler({ allocation, isDisabled }: ExecHandlerOptions): StreamHandler {
  const counts = new Map<string, number>();
  let count = 0;
  return async (stream, given) => {
    if (isDisabled()) throw disabled();
    const { allocId, ...wish } = readParameters(given);
    const target = allocation(allocId);
    if (target === undefined) throw notHere(allocId);
    const key = `${allocId}/${wish.task}`;
    const ofTask = counts.get(key) ?? 0;
    if (count >= limits.exec.sessionsPerNodeMax) throw tooMany('this node');
    if (ofTask >= limits.exec.sessionsPerTaskMax) throw tooMany(`the task "${wish.task}"`);
    count++;
    counts.set(key, ofTask + 1);
    try {
      const session = await target.exec(wish).catch((error) => {
        throw commandFault(error);
      });
      await serveExec(stream, session);
    } finally {
      count--;
      const left = counts.get(key)! - 1;
      if (left === 0) counts.delete(key);
      else counts.set(key, left);
    }
  };
}

function readParameters(given: Readonly<Record<string, unknown>>): ExecWish & { allocId: string } {
  const { alloc_id: allocId, task, command, tty } = given;
  const isText = (value: unknown): value is string => typeof value === 'string';
  if (!isText(allocId) || !isText(task) || !Array.isArray(command) || !command.every(isText)) {
    const message = 'A session needs alloc_id, task and command.';
    throw new StreamFault({ status: 400, code: 'malformed-request', message });
  }
  if (command.length === 0 || command[0] === '') {
    const message = 'The command is empty.';
    throw new StreamFault({ status: 400, code: 'malformed-request', message });
  }
  return { allocId, task, command, tty: tty === true };
}

const disabled = (): StreamFault =>
  new StreamFault({
    status: 403,
    code: 'remote-exec-disabled',
    message: 'The node runs no commands from elsewhere: its operator has disabled that.',
  });

const notHere = (id: string): StreamFault =>
  new StreamFault({
    status: 404,
    code: 'allocation-not-found',
    message: `The allocation "${id}" is not on its node any more.`,
  });

const tooMany = (what: string): StreamFault =>
  new StreamFault({
    status: 429,
    code: 'too-many-sessions',
    message: `There are as many sessions on ${what} as there may be; end one first.`,
  });
