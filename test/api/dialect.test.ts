import { expect, test } from 'vitest';
import { jobBody, rootToken, startApi } from '../support/api.ts';
import { ownDialect } from '../support/own-dialect.ts';

const secret = { 'own-secret': rootToken };

test('a third dialect serves the same endpoints with its own headers, namespace and errors', async () => {
  const api = await startApi({ dialects: [ownDialect] });
  const own = (method: string, path: string, body?: unknown, headers: object = {}) =>
    api.call(method, `/own/v9${path}`, {
      token: null,
      headers: { ...secret, ...headers },
      ...(body !== undefined && { body }),
    });
  const registered = await own('PUT', '/jobs', jobBody());
  expect(registered.status).toBe(200);
  expect(registered.headers).toEqual({
    'content-type': 'application/json',
    'own-index': String(registered.json.Index),
  });
  const read = await own('GET', '/job/web');
  expect(read.json.ID).toBe('web');
  expect(Object.keys(read.headers)).toEqual(['content-type', 'own-index']);

  await own('PUT', '/jobs', jobBody({ ID: 'api' }));
  const page = await own('GET', '/jobs?per_page=1');
  expect(page.headers['own-next']).toBe('default.web');
  expect(page.headers).not.toHaveProperty('x-scheduler-nexttoken');

  // A missing record, another namespace, and an unknown endpoint.
  const elsewhere = await own('GET', '/job/web', undefined, { 'own-place': 'other' });
  expect([elsewhere.status, elsewhere.headers['content-type']]).toEqual([
    410,
    'text/plain; charset=utf-8',
  ]);
  expect(elsewhere.text).toMatch(/^job-not-found: /);
  for (const path of ['/nodes', '/acl/token/self']) {
    const none = await own('GET', path);
    expect([none.status, none.text.split(':')[0]]).toEqual([410, 'route-not-found']);
  }
  const wrongMethod = await own('DELETE', '/jobs');
  expect([wrongMethod.status, wrongMethod.headers.allow]).toEqual([
    405,
    'OPTIONS, GET, HEAD, POST, PUT',
  ]);
  expect(wrongMethod.text).toMatch(/^method-not-allowed: /);
});

test('a third dialect reads the secret from its own header only', async () => {
  const api = await startApi({ dialects: [ownDialect] });
  const policies = '/own/v9/acl/policies';
  const withOwn = await api.call('GET', policies, { token: null, headers: secret });
  expect([withOwn.status, withOwn.headers['own-index']]).toEqual([200, expect.any(String)]);
  expect(withOwn.headers).not.toHaveProperty('x-registry-default-acl-policy');
  const withOther = await api.call('GET', policies);
  expect([withOther.status, withOther.text.split(':')[0]]).toEqual([403, 'permission-denied']);
  // The contract's own dialects are unchanged.
  const plain = await api.call('GET', '/v1/acl/policies', { headers: { 'own-secret': 'x' } });
  expect([plain.status, plain.headers['x-registry-default-acl-policy']]).toEqual([200, 'deny']);
  const missing = await api.call('GET', '/v1/job/none');
  expect([missing.status, missing.json.code]).toEqual([404, 'job-not-found']);
});
