/** Certificates that end, limits that are near and peers that lag, in `GET /v1/attention`. Source: docs/behaviour/attention.md#kinds. */
import { describe, expect, test } from 'vitest';
import {
  exampleCertificate,
  examplePrivateKey,
} from '../../src/model/config-entry/certificate-example.ts';
import { limits } from '../../src/model/limits.ts';
import { findingsOfLag, lagsOf } from '../../src/server/attention/cluster.ts';
import { aclOf } from '../support/acl.ts';
import { type Called, startApi, type TestApi } from '../support/api.ts';
import { certificate, privateKey } from '../support/certificate.ts';
import { startClusters } from '../support/clusters.ts';
import { testsFollower } from '../support/follower.ts';

const dayMs = 86_400_000;
/** The ends of the certificates of the tests. */
const [endMs, exampleEndMs] = [
  Date.parse('2126-10-28T00:45:49Z'),
  Date.parse('2126-10-29T09:54:38Z'),
];

async function items(api: TestApi, kind: string, token?: string) {
  const url = `/v1/attention?namespace=*&kind=${kind}`;
  const { status, json, text } = await api.call('GET', url, token === undefined ? {} : { token });
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return json.Items;
}
const severities = async (api: TestApi, kind: string) =>
  (await items(api, kind)).map(({ Severity }: { Severity: string }) => Severity);

describe('certificates', () => {
  test('of the agent: in the last two weeks, and after their end', async () => {
    const own = { certificate, privateKey, verifiesClients: false };
    const api = await startApi({ startMs: endMs - 15 * dayMs, certificate: own });
    expect(await items(api, 'certificate-ends')).toEqual([]);
    api.world.jumpWallClock(2 * dayMs);
    expect(await items(api, 'certificate-ends')).toEqual([
      {
        Kind: 'certificate-ends',
        Severity: 'warning',
        Noun: 'cluster',
        ID: '',
        Name: '',
        Namespace: '',
        JobID: '',
        Since: expect.stringMatching(/^2126-10-14T00:45:49/),
        Reason: 'The TLS certificate of the agent that answers expires at 2126-10-28T00:45:49.000Z',
      },
    ]);
    const reader = await aclOf(api).holder('namespace "default" { policy = "read" }');
    expect(await items(api, 'certificate-ends', reader)).toEqual([]);
    api.world.jumpWallClock(14 * dayMs);
    const [ended] = await items(api, 'certificate-ends');
    expect([ended.Severity, ended.Reason]).toEqual([
      'critical',
      'The TLS certificate of the agent that answers expired at 2126-10-28T00:45:49.000Z',
    ]);
    api.api.renewCertificate({ ...own, certificate: exampleCertificate });
    expect((await items(api, 'certificate-ends'))[0].Severity).toBe('warning');
  });

  test('of a gateway: in its configuration entry, until it is replaced', async () => {
    const api = await startApi({ startMs: exampleEndMs - 13 * dayMs });
    const entry = {
      Kind: 'inline-certificate',
      Name: 'shop',
      Certificate: exampleCertificate,
      PrivateKey: examplePrivateKey,
    };
    expect(await items(api, 'certificate-ends')).toEqual([]);
    expect((await api.call('PUT', '/v1/config', { body: entry })).status).toBe(200);
    const [ends] = await items(api, 'certificate-ends');
    expect(ends).toMatchObject({
      Severity: 'warning',
      Noun: 'configuration-entry',
      ID: 'inline-certificate/shop',
      Name: 'shop',
      Reason: 'The certificate, or one of its issuers, expires at 2126-10-29T09:54:38.000Z',
    });
    const stranger = await aclOf(api).holder('namespace "default" { policy = "read" }');
    expect(await items(api, 'certificate-ends', stranger)).toEqual([]);
    await api.call('DELETE', '/v1/config/inline-certificate/shop');
    expect(await items(api, 'certificate-ends')).toEqual([]);
  });

  test('by which a peer is known, and a peer that lags', async () => {
    const { clusters, world, during } = await startClusters(['a', 'b']);
    const { a, b } = clusters;
    a.api.server.advertise({ addresses: [a.address], caPems: [certificate] });
    const established = await during(b.establish('a', await a.token('b')), 1000);
    expect([established.status, established.text]).toEqual([200, expect.anything()]);
    const Services = [{ Name: 'web', Consumers: [{ Peer: 'b' }] }];
    const exported = { Kind: 'exported-services', Name: 'default', Services };
    await during(a.api.call('PUT', '/v1/config', { body: exported }), 5000);
    expect(await items(a.api, 'peering-behind')).toEqual([]);
    // The disk of the other cluster is slow, so that it acknowledges nothing.
    b.api.disk.faults.appendDelayMs = 10 * limits.attention.peeringLagMs;
    const changed = { ...exported, Services: [{ Name: 'db', Consumers: [{ Peer: 'b' }] }] };
    await during(a.api.call('PUT', '/v1/config', { body: changed }), 1000);
    await world.advance(limits.attention.peeringLagMs);
    const [behind] = await items(a.api, 'peering-behind');
    const Reason = expect.stringMatching(
      /not applied changes of exported services for 3\d seconds$/,
    );
    const expected = { Severity: 'warning', Noun: 'peering', ID: 'b', Name: 'b', Reason };
    // Servers of tests send each other no news, so a follower knows of no lag.
    if (!testsFollower) expect(behind).toMatchObject(expected);
    const stranger = await aclOf(a.api).holder('namespace "default" { policy = "read" }');
    expect(await items(a.api, 'peering-behind', stranger)).toEqual([]);
    // Another server tells of it by the report of the leader.
    const { server } = a.api;
    const servers = { ...server.servers, lagsOfLeader: () => lagsOf(server) };
    const { context, leading } = server;
    const follower = { context, leading, leads: false, servers };
    expect(findingsOfLag(follower)).toMatchObject([{ Kind: 'peering-behind', ID: 'b', Reason }]);

    // A follower asks the slow log before it answers.
    b.api.disk.faults.appendDelayMs = undefined;
    expect(await items(b.api, 'certificate-ends')).toEqual([]);
    world.jumpWallClock(endMs - dayMs - world.clock.nowMs());
    const [ends] = await items(b.api, 'certificate-ends');
    expect(ends).toMatchObject({ Severity: 'warning', Noun: 'peering', ID: 'a', Name: 'a' });
    expect(ends.Reason).toMatch(/^The authority "localhost" of the other cluster expires at 2126-/);
    // Each server tells of its own authority, and only the leader of this test has one.
    if (testsFollower) return;
    const [own, ...others] = await items(a.api, 'certificate-ends');
    expect([own, others]).toMatchObject([{ Severity: 'warning', Noun: 'cluster' }, []]);
    expect(own.Reason).toMatch(
      /^The authority "localhost", by which peers know the agent that answers, expires at 2126-/,
    );
  });

  test('wake a query and a watch at the moment at which they begin to end', async () => {
    const own = { certificate, privateKey, verifiesClients: false };
    const leftMs = 10_000;
    const { certificateEndMs } = limits.attention;
    const startMs = endMs - certificateEndMs - leftMs;
    const api = await startApi({ startMs, certificate: own });
    const url = '/v1/attention?kind=certificate-ends';
    const first = await api.call('GET', url);
    expect(first.json.Items).toEqual([]);
    const index = first.headers['x-scheduler-index'];
    let second: Called | undefined;
    void api.call('GET', `${url}&index=${index}&wait=5m`).then((answer) => {
      second = answer;
    });
    const early = startMs + leftMs - api.world.clock.nowMs() - 100;
    await api.world.advance(early);
    expect(second).toBeUndefined();
    await api.world.advance(200);
    expect(second?.json.Items).toHaveLength(1);
  });
});

describe('variables near a limit', () => {
  test('by their size and by the number of their items, told by numbers alone', async () => {
    const api = await startApi();
    const put = async (path: string, Items: object) => {
      const answer = await api.call('PUT', `/v1/var/${path}`, { body: { Items } });
      expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    };
    const { itemsBytesMax, itemsMax } = limits.variable;
    const secret = 's3cret-';
    await put('small', { a: secret });
    await put('below', { a: 'x'.repeat(itemsBytesMax * 0.9 - 2) });
    await put('large', { a: `${secret}${'x'.repeat(60_000)}` });
    const many = Array.from({ length: itemsMax * 0.95 }, (_, at) => [`k${at}`, '']);
    await put('many', Object.fromEntries(many));
    const found = await items(api, 'limit-near');
    expect(found.map(({ ID, Reason }: Record<string, string>) => [ID, Reason])).toEqual([
      ['large', `The variable has 60008 of at most ${itemsBytesMax} bytes`],
      ['many', `The variable has ${itemsMax * 0.95} of at most ${itemsMax} items`],
    ]);
    expect(found[0]).toMatchObject({ Severity: 'notice', Noun: 'variable', Namespace: 'default' });
    expect(JSON.stringify(found)).not.toContain(secret);
    const acl = aclOf(api);
    const lists = await acl.holder(
      'namespace "default" { variables { path "large" { capabilities = ["list"] } } }',
    );
    expect((await items(api, 'limit-near', lists)).map(({ ID }: { ID: string }) => ID)).toEqual([
      'large',
    ]);
    await put('large', { a: 'less' });
    expect(await severities(api, 'limit-near')).toEqual(['notice']);
    await api.call('DELETE', '/v1/var/many');
    expect(await items(api, 'limit-near')).toEqual([]);
  });

  test('of the cluster: a notice near the limit, and a warning where more are refused', async () => {
    const api = await startApi();
    const { countMax } = limits.jobPolicy;
    const put = (Name: string) =>
      api.call('PUT', `/v1/job-policy/${Name}`, {
        body: { EnforcementLevel: 'advisory', Rule: 'owner in Meta' },
      });
    const fill = async (from: number, to: number) => {
      for (let at = from; at < to; at++) {
        const { status, text } = await put(`p${at}`);
        expect([status, status === 200 ? '' : text]).toEqual([200, '']);
      }
    };
    const near = Math.ceil(countMax * limits.attention.limitShare);
    await fill(1, near);
    expect(await items(api, 'limit-near')).toEqual([]);
    await fill(near, near + 1);
    const [notice] = await items(api, 'limit-near');
    expect([notice.Severity, notice.Noun, notice.Reason]).toEqual([
      'notice',
      'cluster',
      `There are ${near} job policies; above ${countMax} further ones are refused`,
    ]);
    await fill(near + 1, countMax + 1);
    expect(await severities(api, 'limit-near')).toEqual(['warning']);
    const refused = await put('more');
    expect(refused.json.code).toBe('limit-reached');
  });
});
