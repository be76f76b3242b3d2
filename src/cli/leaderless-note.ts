import type { Timer } from '../base/ports.ts';
import type { Transport, TransportRequest } from '../sdk/transport.ts';
import type { CliEnvironment } from './environment.ts';
import { cliLimits } from './limits.ts';

/**
 * Tells once, on standard error, that a command waits because no server leads. Servers hold a request meanwhile, so the
 * health of the server is asked for the reason once a request has waited for a while.
 */
export function withLeaderlessNote(
  transport: Transport,
  { timers, stderr }: Pick<CliEnvironment, 'timers' | 'stderr'>,
): Transport {
  let isTold = false;
  const tell = async ({ signal }: TransportRequest, isOver: () => boolean): Promise<void> => {
    const isLeaderless = await knowsNoLeader(transport, signal);
    if (!isLeaderless || isTold || isOver()) return;
    isTold = true;
    await stderr.write('No server leads at the moment. The command waits for a leader.\n');
  };
  return {
    ...transport,
    async send(request) {
      // The answer to a blocking query is due later.
      if (isTold || /[?&](?:index|wait)=/.test(request.path)) return transport.send(request);
      let waiting: Timer | undefined = timers.after(cliLimits.leaderless.patienceMs, () => {
        tell(request, () => waiting === undefined).catch(() => {});
      });
      try {
        return await transport.send(request);
      } finally {
        waiting.clear();
        waiting = undefined;
      }
    },
  };
}

/** Whether the health of the server says that no server leads. */
async function knowsNoLeader(
  transport: Transport,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { answerMs } = cliLimits.leaderless;
  const times = { headTimeoutMs: answerMs, bodyTimeoutMs: answerMs };
  const path = '/v1/agent/health';
  const request = { method: 'GET', path, headers: {}, body: undefined, signal, ...times } as const;
  const { status, body } = await transport.send(request);
  let text = '';
  for await (const piece of body) text += Buffer.from(piece).toString();
  return status === 503 && JSON.parse(text).code === 'no-leader';
}
