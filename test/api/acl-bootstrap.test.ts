import { expect, test } from 'vitest';
import { managementId, nobody, uuid } from '../support/acl.ts';
import { startApi } from '../support/api.ts';

const bootstrap = (api: Awaited<ReturnType<typeof startApi>>, body?: unknown) =>
  api.call('PUT', '/v1/acl/bootstrap', { token: null, ...(body !== undefined && { body }) });

test('the first token is made once, and has all permissions', async () => {
  const api = await startApi({ hasRoot: false });
  const { status, json } = await bootstrap(api);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    AccessorID: expect.stringMatching(uuid),
    ID: json.SecretID,
    Description: 'Bootstrap Token (Global Management)',
    Policies: [{ ID: managementId, Name: 'global-management' }],
    Local: false,
  });
  const list = await api.call('GET', '/v1/acl/tokens', { token: json.SecretID });
  expect(list.json).toHaveLength(2);
  const again = await bootstrap(api);
  expect([again.status, again.json.code]).toEqual([403, 'bootstrap-done']);
  expect(again.json.detail).toContain(`(reset index: ${json.CreateIndex})`);
});

test('the secret of the first token may be given', async () => {
  const api = await startApi({ hasRoot: false });
  for (const BootstrapSecret of ['x', managementId]) {
    const refused = await bootstrap(api, { BootstrapSecret });
    expect(refused.json.errors[0].pointer).toBe('/BootstrapSecret');
  }
  expect((await bootstrap(api, { Colour: 1 })).json.code).toBe('invalid-body');
  const { json } = await bootstrap(api, { BootstrapSecret: nobody });
  expect(json.SecretID).toBe(nobody);
});

test('another management token changes nothing, and neither does deleting it', async () => {
  const api = await startApi({ hasRoot: false });
  const first = (await bootstrap(api)).json;
  const body = { Policies: [{ ID: managementId }] };
  const other = (await api.call('PUT', '/v1/acl/token', { token: first.SecretID, body })).json;
  const path = `/v1/acl/token/${first.AccessorID}`;
  expect((await api.call('DELETE', path, { token: other.SecretID })).json).toBe(true);
  expect((await bootstrap(api)).status).toBe(403);
});

test('a root token given at the start counts as the first', async () => {
  const { json } = await bootstrap(await startApi());
  expect(json.code).toBe('bootstrap-done');
});

test('the reset index in the data directory allows one more bootstrap', async () => {
  let file: string | undefined;
  const reset = {
    read: async () => file,
    remove: async () => {
      file = undefined;
    },
  };
  const api = await startApi({ hasRoot: false, bootstrapReset: reset });
  const first = (await bootstrap(api)).json;
  file = '1\n';
  const wrong = await bootstrap(api);
  expect([wrong.status, wrong.json.code]).toEqual([400, 'bootstrap-reset-wrong']);
  const index = /reset index (\d+)/.exec(wrong.json.detail)![1];
  file = `${index}\n`;
  const second = await bootstrap(api);
  expect(second.status).toBe(200);
  expect(second.json.SecretID).not.toBe(first.SecretID);
  expect(file).toBe(undefined);
  expect((await bootstrap(api)).json.code).toBe('bootstrap-done');
  const old = await api.call('GET', '/v1/acl/token/self', { token: first.SecretID });
  expect(old.status).toBe(200);
});

test('with access control off there is no bootstrap', async () => {
  const { status, json } = await bootstrap(await startApi({ aclEnabled: false }));
  expect([status, json.code]).toEqual([401, 'acl-disabled']);
});
