/**
 * The standard health check of gRPC: one call of `grpc.health.v1.Health/Check` over HTTP/2. Its two
 * messages have one field each, so they are encoded and decoded here.
 */
import { connect } from 'node:http2';
import { isIP } from 'node:net';
import { grpcProbeLimits } from '../../../limits.ts';
import {
  addressText,
  failed,
  type Probed,
  type ProbeWish,
  passed,
  requireTarget,
} from './probe.ts';

const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Passes when the server says that it, or the named service, is serving. */
export function grpcProbe(wish: ProbeWish): Promise<Probed> {
  const target = requireTarget(wish);
  const { check, signal } = wish;
  const { GRPCUseTLS, GRPCService, TLSServerName, TLSSkipVerify } = check;
  const servername = TLSServerName || (isIP(target.host) === 0 ? target.host : '');
  const session = connect(`${GRPCUseTLS ? 'https' : 'http'}://${addressText(target)}`, {
    ...(GRPCUseTLS && { rejectUnauthorized: !TLSSkipVerify, servername }),
  });
  const destroy = (): void => session.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  return new Promise<Probed>((resolve, reject) => {
    session.on('error', reject);
    session.once('close', () => reject(new Error('the connection was closed')));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let answer = Buffer.alloc(0);
    let told: string | undefined;
    const hear = (headers: Record<string, unknown>): void => {
      const code = headers['grpc-status'];
      if (code !== undefined) told = `${code} ${headers['grpc-message'] ?? ''}`.trim();
    };
    stream.once('response', hear);
    stream.once('trailers', hear);
    stream.on('error', reject);
    stream.on('data', (part: Buffer) => {
      if (answer.length < grpcProbeLimits.messageBytesMax) answer = Buffer.concat([answer, part]);
    });
    stream.once('end', () => resolve(judged(answer, told)));
    stream.end(framed(GRPCService));
  }).finally(() => {
    signal.removeEventListener('abort', destroy);
    destroy();
  });
}

/** `HealthCheckRequest`: field 1 is the name of the service. */
function framed(service: string): Buffer {
  const name = Buffer.from(service);
  const message =
    name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];

/** `HealthCheckResponse`: field 1 is the status; absent, it is 0. */
function judged(answer: Buffer, told: string | undefined): Probed {
  if (told !== undefined && told !== '0') return failed(`grpc status ${told}`);
  if (answer.length < 5) return failed('no answer of gRPC');
  const [tag, value] = answer.subarray(5);
  const status = statuses[tag === 0x08 ? (value ?? 0) : 0] ?? 'UNKNOWN';
  return status === 'SERVING' ? passed(status) : failed(status);
}
