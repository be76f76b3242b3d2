import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf, anonymousId, callsTo, nobody, readOnlyId, uuid } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});
const { put, get, remove } = callsTo(() => api);
const minute = 60_000;

describe('an update', () => {
  test('replaces changeable fields and clears absent ones, except immutable fields', async () => {
    const { ID } = await acl.policy('ops');
    const before = await acl.token({
      Description: 'one',
      ExpirationTTL: '1h',
      Policies: [{ ID }],
      ServiceIdentities: [{ ServiceName: 'web' }],
    });
    await api.world.advance(1000);
    const { json } = await put(`token/${before.AccessorID}`, { Description: 'two' });
    expect(json).toEqual({
      ...before,
      Description: 'two',
      Policies: [],
      ServiceIdentities: [],
      Hash: json.Hash,
      ModifyIndex: json.ModifyIndex,
    });
    expect(json.Hash).not.toBe(before.Hash);
    expect(json.ModifyIndex).toBeGreaterThan(before.ModifyIndex);
  });

  test('accepts the token as it was read, expanded or not', async () => {
    const token = await acl.token({ ExpirationTTL: '1h', Description: 'x' });
    for (const query of ['', '?expanded']) {
      const { json } = await get(`token/${token.AccessorID}${query}`);
      const { status, json: written } = await put(`token/${token.AccessorID}`, json);
      expect(status).toBe(200);
      expect(written.Hash).toBe(token.Hash);
    }
  });

  test.each([
    ['another SecretID', { SecretID: nobody }, 'SecretID'],
    ['an AuthMethod', { AuthMethod: 'x' }, 'AuthMethod'],
    ['another ExpirationTime', { ExpirationTime: '2026-01-01T05:00:00Z' }, 'ExpirationTime'],
    ['an invalid ExpirationTime', { ExpirationTime: 'x' }, 'ExpirationTime'],
    ['any ExpirationTTL', { ExpirationTTL: '1h' }, 'ExpirationTime'],
    ['another Local', { Local: true }, 'Local'],
  ])('is refused with %s', async (_title, body, field) => {
    const { AccessorID } = await acl.token({ ExpirationTTL: '1h' });
    const { status, json } = await put(`token/${AccessorID}`, body);
    expect([status, json.code]).toEqual([400, 'immutable-field']);
    expect(json.detail).toMatch(new RegExp(`^${field} `));
  });

  test('is refused with every field that cannot change', async () => {
    const { AccessorID } = await acl.token();
    const body = { SecretID: nobody, AuthMethod: 'x', ExpirationTTL: '1h', Local: true };
    const { status, json } = await put(`token/${AccessorID}`, body);
    expect([status, json.code]).toEqual([400, 'immutable-field']);
    const pointers = json.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).toEqual(['/SecretID', '/AuthMethod', '/ExpirationTime', '/Local']);
  });

  test('without Local is refused for a local token, because it would change it', async () => {
    const { AccessorID } = await acl.token({ Local: true });
    expect((await put(`token/${AccessorID}`, {})).json.code).toBe('immutable-field');
    expect((await put(`token/${AccessorID}`, { Local: true })).status).toBe(200);
  });

  test('is refused for another accessor, for none, and for an unknown one', async () => {
    const { AccessorID } = await acl.token();
    const body = { AccessorID: nobody };
    expect((await put(`token/${AccessorID}`, body)).json.code).toBe('id-mismatch');
    expect((await put('token/x', {})).json.code).toBe('invalid-path');
    expect((await put(`token/${nobody}`, body)).json.code).toBe('accessor-not-found');
  });

  test('of the anonymous token gives everyone its links', async () => {
    const { ID } = await acl.policy('p', { Rules: 'acl = "read"' });
    expect((await get('tokens', null)).status).toBe(403);
    expect((await put(`token/${anonymousId}`, { Policies: [{ ID }] })).status).toBe(200);
    expect((await get('tokens', null)).status).toBe(200);
  });
});

describe('a clone', () => {
  test('has the same links and expiry, and its own ids', async () => {
    const source = await acl.token({
      Description: 'source',
      Policies: [{ ID: readOnlyId }],
      ServiceIdentities: [{ ServiceName: 'web' }],
      Local: true,
      ExpirationTTL: '1h',
    });
    const { json: clone } = await put(`token/${source.AccessorID}/clone`, { Description: 'two' });
    expect(clone).toEqual({
      ...source,
      Description: 'two',
      AccessorID: expect.stringMatching(uuid),
      SecretID: expect.stringMatching(uuid),
      Hash: clone.Hash,
      CreateIndex: clone.CreateIndex,
      ModifyIndex: clone.CreateIndex,
    });
    expect(clone.AccessorID).not.toBe(source.AccessorID);
    expect(clone.SecretID).not.toBe(source.SecretID);
    const { json: same } = await put(`token/${source.AccessorID}/clone`, undefined);
    expect(same.Description).toBe('source');
  });

  test('is refused when the source has expired or is about to', async () => {
    const source = await acl.token({ ExpirationTTL: '2m' });
    await api.world.advance(minute + 1);
    const near = await put(`token/${source.AccessorID}/clone`, {});
    expect([near.status, near.json.code]).toEqual([400, 'invalid-body']);
    expect((await put(`token/${nobody}/clone`, {})).status).toBe(404);
    expect((await put(`token/${nobody}/clone`, { Colour: 1 })).status).toBe(400);
  });
});

describe('deleting', () => {
  test('returns true once, then false, and the secret stops working', async () => {
    const { AccessorID, SecretID } = await acl.token();
    const path = `/v1/acl/token/${AccessorID}`;
    const first = await api.call('DELETE', path);
    expect([first.status, first.json]).toEqual([200, true]);
    const again = await api.call('DELETE', path);
    expect([again.status, again.json]).toEqual([200, false]);
    expect((await get('token/self', SecretID)).status).toBe(403);
  });

  test.each([
    ['the anonymous token', anonymousId, 'builtin-protected'],
    ['an invalid accessor', 'x', 'invalid-path'],
  ])('%s is refused', async (_title, accessor, code) => {
    const { status, json } = await remove(`token/${accessor}`);
    expect([status, json.code]).toEqual([400, code]);
  });

  test("of the caller's own token is refused", async () => {
    const { AccessorID } = (await get('token/self')).json;
    const { status, json } = await remove(`token/${AccessorID}`);
    expect([status, json.code]).toEqual([400, 'own-token']);
  });
});
