/**
 * Permissions for configuration entries, and their secrets.
 * Source: docs/contract/configuration.md#permissions-by-kind.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { configKinds } from '../../src/model/config-entry/config-entry.ts';
import { kinds } from '../../src/model/config-entry/kinds.ts';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const put = (body: unknown, query = '', token?: string | null) =>
  api.call('PUT', `/v1/config${query}`, { body, ...(token !== undefined && { token }) });
const get = (path: string, token?: string | null) =>
  api.call('GET', `/v1/config/${path}`, { ...(token !== undefined && { token }) });
const remove = (path: string, token?: string | null) =>
  api.call('DELETE', `/v1/config/${path}`, { ...(token !== undefined && { token }) });
const web = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };

describe('permissions', () => {
  /** Source: docs/contract/configuration.md#permissions-by-kind. */
  const table: Readonly<Record<string, readonly [read: string, write: string]>> = {
    'api-gateway': ['service', 'mesh'],
    'bound-api-gateway': ['service', 'nobody'],
    'exported-services': ['mesh', 'mesh'],
    'file-system-certificate': ['mesh', 'mesh'],
    'http-route': ['mesh', 'mesh'],
    'ingress-gateway': ['service', 'mesh'],
    'inline-certificate': ['mesh', 'mesh'],
    mesh: ['anybody', 'mesh'],
    'proxy-defaults': ['anybody', 'mesh'],
    'service-defaults': ['service', 'service'],
    'service-intentions': ['intentions', 'intentions'],
    'service-resolver': ['service', 'service'],
    'service-router': ['service', 'service'],
    'service-splitter': ['service', 'service'],
    'tcp-route': ['mesh', 'mesh'],
    'terminating-gateway': ['service', 'mesh'],
  };
  const nameOf = (kind: (typeof kinds)[number]) => kind.onlyName?.('default') ?? 'web';
  const rules = (level: 'read' | 'write') => ({
    service: `service "web" { policy = "${level}" }`,
    mesh: `mesh = "${level}"`,
    operator: `operator = "${level}"`,
    intentions: `service "web" { policy = "read" intentions = "${level}" }`,
  });

  test('are in the table for every kind', () => {
    expect(Object.keys(table)).toEqual([...configKinds]);
    for (const { kind } of kinds) expect(table).toHaveProperty(kind);
  });

  /**
   * The kinds that depend on read and write access to services, the mesh, the operator and
   * intentions.
   */
  test('are as in the table, and a 403 precedes a 404', async () => {
    const holders = new Map<string, string | null>([['nobody', null]]);
    for (const level of ['read', 'write'] as const) {
      for (const [resource, text] of Object.entries(rules(level))) {
        holders.set(`${resource}:${level}`, await aclOf(api).holder(text));
      }
    }
    const allows = (needed: string, held: string, access: 'read' | 'write'): boolean => {
      const [resource = '', level] = held.split(':');
      if (needed === 'anybody') return true;
      if (resource === 'nobody' || needed === 'nobody') return false;
      if (access === 'write' && level === 'read') return false;
      if (needed === 'mesh') return resource === 'mesh' || resource === 'operator';
      // Read access to a service includes its intentions, but not the other way round.
      if (needed === 'intentions' && access === 'read')
        return ['service', 'intentions'].includes(resource);
      if (needed === 'service' && access === 'read')
        return ['service', 'intentions'].includes(resource);
      return resource === needed;
    };
    for (const kind of kinds) {
      const [read, write] = table[kind.kind]!;
      const name = nameOf(kind);
      for (const [held, token] of holders) {
        const what = `${held} ${kind.kind}`;
        const found = await get(`${kind.kind}/${name}`, token);
        const gone = await remove(`${kind.kind}/${name}`, token);
        const made = await put({ Kind: kind.kind, Name: name, Mode: 7 }, '', token);
        expect([what, found.status], what).toEqual([what, allows(read, held, 'read') ? 404 : 403]);
        expect([what, gone.status], what).toEqual([what, allows(write, held, 'write') ? 200 : 403]);
        // An unreadable body is explained to everyone, because its permission cannot be determined.
        expect(made.status, what).toBe(400);
        const right = await put({ Kind: kind.kind, Name: name }, '?cas=7', token);
        expect([what, [200, 400].includes(right.status)]).toEqual([
          what,
          allows(write, held, 'write'),
        ]);
        if (!allows(write, held, 'write')) expect(right.status).toBe(403);
      }
    }
  });

  test('leave records out of a list, which the answer says', async () => {
    await put(web);
    await put({ ...web, Name: 'api' });
    await put({ Kind: 'exported-services' });
    await put({ Kind: 'mesh' });
    const token = await aclOf(api).holder('service "api" { policy = "read" }');
    const filtered = 'x-registry-results-filtered-by-acls';
    const some = await get('service-defaults', token);
    expect(some.json.map((one: { Name: string }) => one.Name)).toEqual(['api']);
    expect(some.headers[filtered]).toBe('true');
    const none = await get('exported-services', token);
    expect([none.json, none.headers[filtered]]).toEqual([[], 'true']);
    const all = await get('service-defaults');
    expect(all.headers[filtered]).toBeUndefined();
    const anonymous = await api.call('GET', '/v1/config', { token: null });
    expect(anonymous.json.map((one: { Kind: string }) => one.Kind)).toEqual(['mesh']);
    expect(anonymous.headers[filtered]).toBe('true');
  });
});

/** The kinds with a secret, each with an entry. */
const secretive = kinds.filter(({ secret }) => secret !== undefined);

describe.each(secretive.map((kind) => [kind.kind, kind] as const))(
  'the secret of %s',
  (_, kind) => {
    const { example, secret: field = '' } = kind;
    const clear = String(example[field]);
    const path = `${kind.kind}/${example.Name}`;

    test('is shown to callers with write permission, and hidden from others', async () => {
      await put(example);
      expect((await get(path)).json[field]).toBe(clear);
      const reader = await aclOf(api).holder('mesh = "read"');
      const hidden = await get(path, reader);
      expect(hidden.json[field]).toBe('<hidden>');
      expect((await get(kind.kind, reader)).json[0][field]).toBe('<hidden>');
      expect((await get(kind.kind)).json[0][field]).toBe(clear);
      // A presented entry can be sent back and changes nothing.
      const { ModifyIndex } = hidden.json;
      expect((await put({ ...hidden.json, Meta: null })).json).toBe(true);
      expect((await get(path)).json).toMatchObject({ [field]: clear, ModifyIndex });
      expect((await put({ ...hidden.json, Meta: { a: 'b' } })).json).toBe(true);
      expect((await get(path)).json).toMatchObject({ [field]: clear, Meta: { a: 'b' } });
      expect((await put({ ...hidden.json, Name: 'other' })).status).toBe(400);
    });

    test('is absent from events and filters, and sealing it again breaks no guard', async () => {
      const stream = await api.follow('/v1/event/stream?topic=ConfigEntry');
      await put(example);
      await api.settle();
      expect(stream.lines.length).toBeGreaterThan(0);
      expect(JSON.stringify(stream.lines)).not.toContain(JSON.stringify(clear).slice(1, -1));
      stream.stop();
      const { ModifyIndex } = (await get(path)).json;
      const filter = encodeURIComponent(`${field} matches "KEY"`);
      expect((await get(`${kind.kind}?filter=${filter}`)).json).toEqual([]);
      expect((await api.call('PUT', '/v1/operator/keyring/rotate')).status).toBe(200);
      expect((await get(path)).json).toMatchObject({ [field]: clear, ModifyIndex });
    });

    test('is repeated in no fault', async () => {
      for (const value of [`${clear}x`, [clear], { a: clear }, clear.slice(0, -40)]) {
        const { status, text } = await put({ ...example, [field]: value });
        expect(status).not.toBe(500);
        expect(text).not.toContain(clear.slice(60, 100));
      }
    });
  },
);

test('events of entries are sent to callers who may read them', async () => {
  const token = await aclOf(api).holder('service "api" { policy = "read" }');
  const stream = await api.follow('/v1/event/stream?topic=ConfigEntry', token);
  await put(web);
  await put({ ...web, Name: 'api' });
  await remove('service-defaults/api');
  await api.settle();
  const events = stream.lines.flatMap((line) => line.Events ?? []);
  expect(events.map(({ Type, Key }) => [Type, Key])).toEqual([
    ['ConfigEntryUpserted', 'service-defaults/api'],
    ['ConfigEntryDeleted', 'service-defaults/api'],
  ]);
  stream.stop();
  await stream.isOver;
});

test('the audit log names written entries without their content', async () => {
  const lines: string[] = [];
  api = await startApi({ audit: { sink: { write: (line) => lines.push(line) }, events: 'all' } });
  await put(web);
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({
    permission: 'service:write on "web"',
    decision: 'allowed',
    status: 200,
    made: { kind: 'service-defaults', name: 'web' },
  });
  expect(lines.at(-1)).not.toContain('http"');
});
