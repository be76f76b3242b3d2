import type { SpanContext } from '../base/tracer.ts';
import type { Tracing } from '../server/tracing/tracing.ts';
import { header, type Request } from './http.ts';
import type { Observation } from './pipeline.ts';

/** `giveTraces` is absent in a reader, which runs no write. */
export type TracingOfApi = Pick<Tracing, 'request'> & Partial<Pick<Tracing, 'giveTraces'>>;

/**
 * Traces a request that has made evaluations, or that belongs to a trace already. A server that handed the request on
 * leaves that to the server that ran it.
 */
export function traceRequest(tracing: TracingOfApi, observation: Observation): void {
  const { request, route, status, durationMs, trail } = observation;
  const parent = parentOf(request);
  const isWanted = parent === undefined ? trail.evaluations !== undefined : parent !== 'unsampled';
  if (!isWanted || route === undefined || trail.forwardedTo !== undefined) return;
  const attributes = {
    'http.request.method': request.method,
    'http.route': route.path,
    'http.response.status_code': status,
  };
  const name = `${request.method} ${route.path}`;
  const begin = { name, parent: parent as SpanContext | undefined, durationMs, attributes };
  trail.traceId = tracing.request(begin, {
    isError: status >= 500,
    evaluations: trail.evaluations,
  });
}

/** Source: https://www.w3.org/TR/trace-context/#traceparent-header. */
function parentOf(request: Request): SpanContext | 'unsampled' | undefined {
  const text = header(request, 'traceparent') ?? '';
  const found =
    /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(
      text,
    );
  if (found === null) return undefined;
  const [, traceId, spanId, flags] = found;
  const isSampled = (Number.parseInt(flags!, 16) & 1) === 1;
  return isSampled ? { traceId: traceId!, spanId: spanId! } : 'unsampled';
}
