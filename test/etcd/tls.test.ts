/** Etcd that speaks TLS and checks its clients. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireRightForEtcd } from '../../src/agent-certificate.ts';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { authorityCertificate } from '../../src/model/config-entry/certificates.test-helper.ts';
import { certificate as otherAuthority } from '../support/certificate.ts';
import { EtcdCluster, type EtcdTls, etcdServer } from '../support/etcd.ts';
import {
  clientCertificate,
  clientKey,
  serverCertificate,
  serverKey,
} from '../support/tls-certificates.ts';

const authorities = authorityCertificate;
const tls: EtcdTls = {
  server: { certificate: serverCertificate, privateKey: serverKey, authorities },
  client: { authorities, certificate: clientCertificate, privateKey: clientKey },
};

test.each([
  ['an authority that is none', { authorities: 'swordfish' }, 'the authority: it is not PEM'],
  ['another key', { ...tls.client, privateKey: serverKey }, 'privateKey'],
  ['no key', { ...tls.client, privateKey: undefined }, 'privateKey'],
])('%s is refused before etcd is asked, by name', (_, texts, sentence) => {
  expect(() => requireRightForEtcd(texts)).toThrow(
    new RegExp(`^the certificates for etcd cannot be used: ${sentence}`),
  );
  expect(() => requireRightForEtcd(tls.client)).not.toThrow();
});

describe('etcd with TLS', needing(etcdServer), () => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    cluster = await EtcdCluster.start(1, { tls });
  });

  afterAll(() => cluster?.stop());

  test('a client with a certificate that both sides trust is answered', async () => {
    expect(await cluster.client().range({ key: 'a' })).toMatchObject({ keys: [], more: false });
  });

  test.each([
    ['no certificate', { authorities }],
    [
      'an authority that did not issue the certificate',
      { ...tls.client, authorities: otherAuthority },
    ],
    ['no TLS at all', undefined],
  ])('a client with %s reaches nothing', async (_, given) => {
    const client = cluster.client({ tls: given, limits: { callMs: 2000 } });
    await expect(client.range({ key: 'a' })).rejects.toMatchObject({ kind: 'unknown' });
  });
});
