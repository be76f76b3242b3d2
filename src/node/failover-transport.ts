import type { Transport, TransportAnswer, TransportRequest } from '../sdk/transport.ts';
import type { ServerChoice } from './server-choice.ts';

/**
 * Sends each request to the current server of `choice`, and to the others in turn when it is
 * unreachable or answers 5xx. When all of them do, the last answer counts. For requests that may be
 * repeated, as all requests of a node may.
 */
export function failoverTransport(
  choice: ServerChoice,
  transportOf: (address: string) => Transport,
): Transport {
  const transports = new Map(
    choice.addresses.map((address) => [address, transportOf(address)] as const),
  );
  return {
    async send(request) {
      let failed: TransportAnswer | undefined;
      const ask = async (address: string, left: AbortSignal): Promise<TransportAnswer> => {
        if (failed !== undefined) await drop(failed);
        failed = undefined;
        const answer = await sendUntilLeft(transports.get(address)!, request, left);
        if (answer.status < 500) return answer;
        failed = answer;
        throw new Error(`${address} answered ${answer.status}`);
      };
      try {
        return await choice.call(ask, request.signal);
      } catch (error) {
        if (failed !== undefined) return failed;
        throw error;
      }
    },
    async close() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
    },
  };
}

/** Ends the request when `left` aborts before the head of the answer has come. */
async function sendUntilLeft(
  transport: Transport,
  request: TransportRequest,
  left: AbortSignal,
): Promise<TransportAnswer> {
  const attempt = new AbortController();
  const leave = (): void => attempt.abort(left.reason);
  left.addEventListener('abort', leave, { once: true });
  if (left.aborted) leave();
  const { signal } = request;
  const both = signal === undefined ? attempt.signal : AbortSignal.any([signal, attempt.signal]);
  try {
    return await transport.send({ ...request, signal: both });
  } finally {
    left.removeEventListener('abort', leave);
  }
}

/** Releases the connection of an unread answer: leaving the loop ends the request. */
async function drop({ body }: TransportAnswer): Promise<void> {
  try {
    for await (const _ of body) break;
  } catch {
    // The connection is gone already.
  }
}
