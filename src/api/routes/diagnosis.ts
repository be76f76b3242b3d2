import { diagnosisEndpoints as contract } from '../../contract/diagnosis.ts';
import type { RosterError } from '../../model/errors.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { type LogLevel, logLevels } from '../../model/monitor/log-level.ts';
import { monitored } from '../../model/monitor/log-lines.ts';
import { frameLine, type MonitorRequest, monitor } from '../../model/monitor/monitor.ts';
import { type ProfileRequest, profile } from '../../model/monitor/profile.ts';
import { quote } from '../../model/path.ts';
import type { Server } from '../../server/server.ts';
import { type Answer, jsonType } from '../http.ts';
import type { Route, StreamInput } from '../route.ts';
import { type InputOf, serveStream } from '../serve.ts';
import { whileAllowed } from '../while-allowed.ts';
import { askNode } from './ask-node.ts';
import { unsniffed } from './client.ts';
import { namedNode } from './named-node.ts';

type Monitoring = StreamInput<InputOf<typeof contract.monitor>>;
type Profiling = StreamInput<InputOf<typeof contract.cpuProfile>>;

/** The profile of a reader; `undefined`: there is none of this name. @throws RosterError `too-many-profiles` */
export type ProfileOfReader = (
  thread: string,
  request: ProfileRequest,
) => Promise<Uint8Array | undefined>;

const mainThread = 'main';

const unknownThread = (reason: string) => refusal('invalid-query', { parameter: 'thread', reason });

/** Live logs and profiles of this agent, or of a node. Source: docs/operations/diagnosis.md. */
export function diagnosisRoutes(server: Server, profileOfReader?: ProfileOfReader): Route[] {
  const { world, log } = server.context;
  const { lines } = monitored(log, world.clock);
  const ofNode = async (nodeId: string, kind: string, params: object, signal: AbortSignal) =>
    (await askNode(server, { nodeId, kind, params: { ...params }, signal })).body;

  const follow = async (input: Monitoring, gone: AbortSignal): Promise<Answer> => {
    const request = requestOf(input);
    const nodeId = namedNode(input);
    const over = new AbortController();
    const signal = AbortSignal.any([gone, over.signal]);
    const source = nodeId
      ? await ofNode(nodeId, 'monitor', request, signal)
      : await monitor(lines, request, { ...world, signal });
    const body = whileAllowed(source, {
      timers: world.timers,
      everyMs: limits.monitor.heartbeatMs,
      renew: input.renew,
      end: () => over.abort(),
      last: (refused) => lastPart(refused, request),
    });
    const type = request.isPlain ? 'text/plain; charset=utf-8' : 'application/x-ndjson';
    return { status: 200, headers: { 'content-type': type, ...unsniffed }, body };
  };

  const takeProfile =
    (kind: 'cpu' | 'heap') =>
    async (input: Profiling, signal: AbortSignal): Promise<Answer> => {
      const request = { kind, seconds: input.query.seconds };
      const nodeId = namedNode(input);
      const { thread } = input.query;
      const taken = async () =>
        thread === mainThread
          ? profile(request, { timers: world.timers, signal })
          : profileOfReader?.(thread, request);
      if (nodeId && thread !== mainThread) throw unknownThread('names a thread of a server');
      const body = await (nodeId ? ofNode(nodeId, 'profile', request, signal) : taken());
      if (body === undefined)
        throw unknownThread(`must be ${mainThread}, or a reader of the agent`);
      return { status: 200, headers: jsonType, body };
    };

  return [
    ...serveStream(contract.monitor, follow),
    ...serveStream(contract.cpuProfile, takeProfile('cpu')),
    ...serveStream(contract.heapProfile, takeProfile('heap')),
  ];
}

/** @throws RosterError `invalid-query` */
function requestOf({ query }: Monitoring): MonitorRequest {
  const level = query.log_level.toLowerCase();
  if (!logLevels.includes(level as LogLevel)) {
    const reason = `must be one of ${logLevels.join(', ')}, got ${quote(query.log_level)}`;
    throw refusal('invalid-query', { parameter: 'log_level', reason });
  }
  return { level: level as LogLevel, isJson: query.log_json, isPlain: query.plain };
}

const lastPart = ({ code, detail }: RosterError, { isPlain }: MonitorRequest): Uint8Array =>
  isPlain ? Buffer.from(`${detail}\n`) : frameLine({ Error: { Code: code, Message: detail } });
