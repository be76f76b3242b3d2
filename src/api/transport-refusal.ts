/** The refusals of faults of the transport, before there is a request. */
import { type RosterError, refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { TransportFault } from './http-server.ts';

export function transportRefusal(fault: TransportFault): RosterError {
  const { jobBodyBytesMax, headerBytesMax, bodyTimeoutMs } = limits.http;
  switch (fault) {
    case 'body-too-large':
      return refusal('body-too-large', { limit: jobBodyBytesMax });
    case 'headers-too-large':
      return refusal('headers-too-large', { limit: headerBytesMax });
    case 'too-slow':
      return refusal('request-timeout', { seconds: bodyTimeoutMs / 1000 });
    case 'too-many-connections':
      return refusal('too-many-connections', { limit: limits.http.connectionsPerAddressMax });
    case 'no-client-certificate':
      return refusal('client-certificate-required');
    case 'unreadable':
      return refusal('malformed-request', { reason: 'This is no HTTP request that can be read.' });
  }
}
