import type { World } from '../base/ports.ts';
import { RosterError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { logLevels } from '../model/monitor/log-level.ts';
import type { LogLines } from '../model/monitor/log-lines.ts';
import { monitor } from '../model/monitor/monitor.ts';
import { profile } from '../model/monitor/profile.ts';
import type { ByteStream } from '../model/node-stream/byte-stream.ts';
import type { StreamHandler } from '../model/node-stream/stream-connection.ts';
import { streamRefusal, writeHead, writeText } from './stream-answer.ts';
import { streamParams } from './stream-params.ts';

/** Streams of the kind `monitor`: the lines of the log of this agent. */
export const monitorHandler =
  (lines: LogLines, { clock, timers }: World): StreamHandler =>
  (stream, given) => {
    const params = streamParams(given);
    const request = {
      level: params.choice('level', ['info', ...logLevels]),
      isJson: params.flag('isJson'),
      isPlain: params.flag('isPlain'),
    };
    return answer(stream, monitor(lines, request, { clock, timers, signal: stream.signal }));
  };

/** Streams of the kind `profile`: a profile of this agent. */
export const profileHandler =
  ({ timers }: World): StreamHandler =>
  (stream, given) => {
    const params = streamParams(given);
    const request = {
      kind: params.choice('kind', ['cpu', 'heap']),
      seconds: Math.min(params.whole('seconds'), limits.profile.secondsMax),
    };
    return answer(stream, profile(request, { timers, signal: stream.signal }));
  };

/** Reads the configuration of the agent again. Resolves with what has changed. @throws RosterError with its faults */
export type ReloadAgent = () => Promise<object>;

/** Streams of the kind `reload`: the changed settings, or the faults of the files. */
export const reloadHandler =
  (reload: ReloadAgent = async () => ({})): StreamHandler =>
  async (stream) => {
    const told = await reload().catch((error) => {
      if (!(error instanceof RosterError)) throw error;
      return { Faults: error.errors.map(({ message }) => message) };
    });
    await writeHead(stream);
    await writeText(stream, JSON.stringify(told));
  };

/** @throws StreamFault */
async function answer(
  stream: ByteStream,
  begun: Promise<AsyncIterable<Uint8Array>>,
): Promise<void> {
  const parts = await begun.catch((error) => {
    throw error instanceof RosterError ? streamRefusal(error) : error;
  });
  await writeHead(stream);
  for await (const part of parts) await stream.write(part);
}
