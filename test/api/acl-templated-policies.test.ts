import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf, callsTo } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});
const { put, get } = callsTo(() => api);

describe('templated policies', () => {
  const preview = (name: string, body?: object, path = 'acl/templated-policy') =>
    api.call('POST', `/v1/${path}/preview/${name}`, body === undefined ? {} : { body });

  test('are listed by name and read under both paths', async () => {
    const { json, headers } = await get('templated-policies');
    expect(Object.keys(json).sort()).toEqual([
      'builtin/api-gateway',
      'builtin/dns',
      'builtin/node',
      'builtin/scheduler-client',
      'builtin/scheduler-server',
      'builtin/service',
      'builtin/workload-identity',
    ]);
    expect(headers).toHaveProperty('x-registry-index');
    for (const [name, template] of Object.entries<{ Schema: string; Template: string }>(json)) {
      expect((await get(`templated-policy/name/${name}`)).json).toEqual(template);
      const encoded = encodeURIComponent(name);
      expect((await get(`templated-policy/name/${encoded}`)).json).toEqual(template);
      const takesName = template.Template.includes('{{.Name}}');
      expect(template.Schema === '').toBe(!takesName);
      if (takesName) {
        expect(JSON.parse(template.Schema)).toMatchObject({ type: 'object', required: ['name'] });
      }
    }
    expect((await get('templated-policy/name/builtin/x')).json.code).toBe('template-not-found');
  });

  test('are previewed as rules that can be written by hand, and nothing is stored', async () => {
    const before = api.state.read().index;
    for (const name of Object.keys((await get('templated-policies')).json)) {
      const { status, json } = await preview(name, { name: 'web' });
      expect(status).toBe(200);
      expect(json).toMatchObject({ CreateIndex: 0, ModifyIndex: 0 });
      expect(json.Name).toBe(`synthetic-policy-${json.ID}`);
      expect(json.Description).toContain(name);
      expect(json.Rules).not.toContain('{{');
      expect((await preview(name, { Name: 'web' }, 'acl-templated')).json).toEqual(json);
      expect(api.state.read().index).toBe(before);
    }
    const { Rules } = (await preview('builtin/service', { Name: 'web' })).json;
    expect((await put('policy', { Name: 'copy', Rules })).status).toBe(200);
  });

  test('for workloads give the identity, not a service of that name', async () => {
    const { SecretID } = await acl.token({
      TemplatedPolicies: [
        { TemplateName: 'builtin/workload-identity', TemplateVariables: { name: 'web' } },
      ],
    });
    const body = [
      { Resource: 'identity', Segment: 'web', Access: 'write' },
      { Resource: 'identity', Segment: 'api', Access: 'read' },
      { Resource: 'service', Segment: 'web', Access: 'write' },
    ];
    const asked = { token: SecretID, body };
    const { json } = await api.call('POST', '/v1/internal/acl/authorize', asked);
    expect(json.map((one: { Allow: boolean }) => one.Allow)).toEqual([true, false, false]);
  });

  test('all render to valid rules', async () => {
    for (const name of Object.keys((await get('templated-policies')).json)) {
      const { Rules } = (await preview(name, { Name: 'web' })).json;
      const written = await put('policy', { Name: name.replace('builtin/', ''), Rules });
      expect([name, written.status]).toEqual([name, 200]);
    }
  });

  test.each([
    ['a template that is not there', 'builtin/x', {}, 404, 'template-not-found'],
    ['no name where one is needed', 'builtin/service', {}, 400, 'invalid-body'],
    ['no body where a name is needed', 'builtin/service', undefined, 400, 'invalid-body'],
    ['an invalid name', 'builtin/service', { Name: 'A b' }, 400, 'invalid-body'],
    ['an unknown field', 'builtin/dns', { Colour: 1 }, 400, 'invalid-body'],
    ['no body where none is needed', 'builtin/dns', undefined, 200, undefined],
  ])('are previewed with %s', async (_title, name, body, status, code) => {
    const answer = await preview(name, body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });
});
