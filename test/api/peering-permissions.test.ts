import { expect, test } from 'vitest';
import { rootToken } from '../support/api.ts';
import { startClusters } from '../support/clusters.ts';

test('peerings need the permission peering, or else operator', async () => {
  const { clusters, during } = await startClusters(['a']);
  const { api } = clusters.a;
  const call = (method: string, path: string, body?: unknown, token: string | null = rootToken) =>
    during(api.call(method, path, { token, ...(body !== undefined && { body }) }), 10);
  const tokenWith = async (rules: string) => {
    const name = `p${rules.length}${Math.abs(rules.charCodeAt(0))}`;
    await call('PUT', '/v1/acl/policy', { Name: name, Rules: rules });
    return (await call('PUT', '/v1/acl/token', { Policies: [{ Name: name }] })).json.SecretID;
  };
  const asks = [
    ['POST', '/v1/peering/token', { PeerName: 'x' }],
    ['POST', '/v1/peering/establish', { PeerName: 'y', PeeringToken: 'x' }],
    ['GET', '/v1/peering/x', undefined],
    ['GET', '/v1/peerings', undefined],
    ['DELETE', '/v1/peering/x', undefined],
  ] as const;
  const statuses = async (secret: string) => {
    const found = [];
    for (const [method, path, body] of asks) {
      found.push((await call(method, path, body, secret)).status);
    }
    return found;
  };
  expect(await statuses(await tokenWith('peering = "write"'))).toEqual([200, 400, 200, 200, 200]);
  expect(await statuses(await tokenWith('operator = "write"'))).toEqual([200, 400, 200, 200, 200]);
  expect(await statuses(await tokenWith('peering = "read"'))).toEqual([403, 403, 404, 200, 403]);
  expect(await statuses(await tokenWith('operator = "write"\npeering = "deny"'))).toEqual(
    Array(5).fill(403),
  );
  const { json } = await call('POST', '/v1/peering/token', { PeerName: '' }, null);
  expect(json.detail).toContain('lacks the permission peering:write');
});
