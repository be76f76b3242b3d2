import { refusal } from '../../model/errors.ts';

/**
 * The port to identity providers. `outbound-http.ts` is the real one; tests bring their own. A call
 * has a time limit, follows no redirect, and reads at most `limits.outbound.answerBytesMax` bytes.
 */
export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM of the authorities to trust instead of the system's; empty: those of the system. */
  readonly caCertificate: string;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Rejects with an {@link OutboundError} if no complete answer came. */
export type Outbound = (request: OutboundRequest) => Promise<OutboundAnswer>;

/** No answer came, or no readable one. `reason` names the address and holds no secret. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
}

/** The JSON object of an answer with status 200. @throws OutboundError */
export async function fetchJson(
  outbound: Outbound,
  request: Omit<OutboundRequest, 'method'>,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await outbound({ method: 'GET', ...request });
  if (answer.status !== 200) {
    throw new OutboundError(`${request.url} answered with the status ${answer.status}`);
  }
  return jsonObject(request.url, answer.body);
}

/** @throws OutboundError */
export function jsonObject(url: string, body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      return parsed as Readonly<Record<string, unknown>>;
    }
  } catch {
    // The error below says so.
  }
  throw new OutboundError(`${url} answered with something other than a JSON object`);
}

/** For logins: the provider is at fault, and the same request may succeed later. */
export function unreachable(error: unknown): never {
  if (!(error instanceof OutboundError)) throw error;
  throw refusal('identity-provider-unreachable', { reason: error.message.slice(0, 512) });
}
