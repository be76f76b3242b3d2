import { type OutgoingHttpHeaders, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP } from 'node:net';
import {
  addressText,
  BoundedOutput,
  failed,
  type Probed,
  type ProbeWish,
  passed,
  requireTarget,
} from './probe.ts';

/** 2xx passes, 429 (too many requests) warns, all else fails, redirects among it. */
export function httpProbe(wish: ProbeWish): Promise<Probed> {
  const { host, port } = requireTarget(wish);
  const { check, signal } = wish;
  const { Protocol, TLSServerName, TLSSkipVerify, Body } = check;
  const method = (check.Method || 'GET').toUpperCase();
  const path = check.Path.startsWith('/') ? check.Path : `/${check.Path}`;
  const common = {
    host,
    port,
    path,
    method,
    signal,
    agent: false as const,
    headers: headersOf(wish, method),
  };
  const servername = TLSServerName || (isIP(host) === 0 ? host : '');
  const tls = { rejectUnauthorized: !TLSSkipVerify, servername };
  return new Promise((resolve, reject) => {
    const request =
      Protocol === 'https' ? secureRequest({ ...common, ...tls }) : plainRequest(common);
    request.on('error', reject);
    request.once('response', (response) => {
      const output = new BoundedOutput();
      const status = response.statusCode ?? 0;
      const done = (): void => {
        resolve(probedOf(status, `${method} ${path}: ${status} ${output.text}`.trimEnd()));
        // Nobody needs the part beyond the bound.
        response.destroy();
      };
      response.on('data', (part: Uint8Array) => {
        if (!output.add(part)) done();
      });
      response.once('end', done);
      response.on('error', reject);
    });
    request.end(Body);
  });
}

function headersOf({ check, target }: ProbeWish, method: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    host: addressText(target!),
    'user-agent': 'roster-check',
    accept: '*/*',
  };
  for (const [name, values] of Object.entries(check.Header ?? {})) {
    // Some headers may occur only once, so they must not be a list.
    headers[name.toLowerCase()] = values.length === 1 ? values[0] : [...values];
  }
  headers.connection = 'close';
  const bytes = Buffer.byteLength(check.Body);
  if (bytes > 0 || !['GET', 'HEAD'].includes(method)) headers['content-length'] = String(bytes);
  return headers;
}

function probedOf(status: number, output: string): Probed {
  if (status >= 200 && status < 300) return passed(output, status);
  if (status === 429) return { outcome: 'warning', statusCode: status, output };
  return failed(output, status);
}
