/** The port of an agent with a certificate, while it starts. */
import { get } from 'node:https';
import { expect, test } from 'vitest';
import { holdPort } from '../src/api/http-server-hold.ts';
import { certificate, privateKey } from './support/certificate.ts';
import { freePorts } from './support/etcd.ts';

const ask = (port: number): Promise<number | string | undefined> =>
  new Promise((resolve) => {
    const asked = { host: '127.0.0.1', port, path: '/v1/jobs', rejectUnauthorized: false };
    get(asked, ({ statusCode }) => resolve(statusCode)).on('error', () => resolve('no answer'));
  });

test.each([
  [false, 503],
  [true, 'no answer'],
])(
  'requests are refused over TLS; certificates of clients are checked: %s',
  async (verifiesClients, expected) => {
    const [port = 0] = await freePorts(1);
    const authorities = verifiesClients ? certificate : undefined;
    const served = { certificate, privateKey, authorities, verifiesClients };
    const release = await holdPort({ host: '127.0.0.1', port, certificate: served });
    expect(await ask(port)).toBe(expected);
    release();
  },
);
