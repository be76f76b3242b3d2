import { beforeEach, describe, expect, test } from 'vitest';
import { aclTokens } from '../../src/state/tables.ts';
import { aclOf, callsTo } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});
const { put, get, remove } = callsTo(() => api);
const later = (ms: number) => new Date(api.world.clock.nowMs() + ms).toISOString();
const minute = 60_000;
const hour = 60 * minute;

describe('expiry', () => {
  test.each([
    ['a time to live', () => ({ ExpirationTTL: '10m' })],
    ['a time to live in nanoseconds', () => ({ ExpirationTTL: 10 * minute * 1e6 })],
    ['a time', () => ({ ExpirationTime: later(10 * minute) })],
    ['a time elsewhere', () => ({ ExpirationTime: '2026-01-01T02:10:00+02:00' })],
  ])('by %s', async (_title, body) => {
    const { json } = await put('token', body());
    expect(json.ExpirationTime).toBe('2026-01-01T00:10:00Z');
    expect(json).not.toHaveProperty('ExpirationTTL');
  });

  test('is counted from CreateTime, even if time passes during the request', async () => {
    const { clock } = api.world;
    const started = clock.nowMs();
    let looks = 0;
    Object.assign(clock, { nowMs: () => started + looks++ });
    const { json } = await put('token', { ExpirationTTL: '10m' });
    expect(looks).toBeGreaterThan(1);
    expect(Date.parse(json.ExpirationTime) - Date.parse(json.CreateTime)).toBe(10 * minute);
  });

  test('takes effect at once, even before the row is deleted', async () => {
    const { AccessorID, SecretID } = await acl.token({ ExpirationTTL: '1m' });
    // The clock jumps without running timers, so only checks at use can notice.
    api.world.jumpWallClock(minute);
    expect(api.state.read().index).toBeGreaterThan(0);
    expect((await get('token/self', SecretID)).json.code).toBe('token-not-found');
    expect((await get(`token/${AccessorID}`)).status).toBe(404);
    expect((await put(`token/${AccessorID}`, {})).status).toBe(404);
    expect((await put(`token/${AccessorID}/clone`, {})).status).toBe(404);
    expect((await remove(`token/${AccessorID}`)).json).toBe(false);
    const { json } = await get('tokens');
    expect(json.map((one: { AccessorID: string }) => one.AccessorID)).not.toContain(AccessorID);
  });

  test('deletes the rows when they are due, the earliest first', async () => {
    await acl.token({ ExpirationTTL: '2h' });
    await acl.token({ ExpirationTTL: '1h' });
    const left = () => [...api.state.read().table(aclTokens).scan()].length;
    const before = left();
    await api.world.advance(hour - 1);
    expect(left()).toBe(before);
    await api.world.advance(1);
    expect(left()).toBe(before - 1);
    await api.world.advance(hour);
    expect(left()).toBe(before - 2);
    expect((await get('tokens')).json).toHaveLength(2);
  });

  test('refuses waiting queries of the token', async () => {
    const { ID } = await acl.policy('p', { Rules: 'acl = "read"' });
    const { SecretID } = await acl.token({ ExpirationTTL: '1m', Policies: [{ ID }] });
    const index = (await get('roles', SecretID)).headers['x-registry-index'];
    const waiting = get(`roles?index=${index}&wait=10m`, SecretID);
    await api.world.advance(minute);
    expect((await waiting).status).toBe(403);
  });

  test('a waiting query is refused at once when its token is deleted or loses its policies', async () => {
    const { ID } = await acl.policy('p', { Rules: 'acl = "read"' });
    const changes = [(path: string) => remove(`${path}`), (path: string) => put(path, {})];
    for (const change of changes) {
      const { SecretID, AccessorID } = await acl.token({ Policies: [{ ID }] });
      const index = (await get('roles', SecretID)).headers['x-registry-index'];
      const waiting = get(`roles?index=${index}`, SecretID);
      await api.settle();
      await change(`token/${AccessorID}`);
      expect((await waiting).status).toBe(403);
    }
  });
});
