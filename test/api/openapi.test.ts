import fc from 'fast-check';
import { Check, type XSchemaObject } from 'typebox/schema';
import { beforeAll, expect, test } from 'vitest';
import { textFor } from '../../src/api/openapi/example.ts';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';
import { testsFollower } from '../support/follower.ts';
import { withoutReferences } from '../support/openapi-references.ts';

let api: TestApi;
// biome-ignore lint/suspicious/noExplicitAny: the document is read as whoever generates from it does.
let document: any;
beforeAll(async () => {
  api = await startApi();
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  document = (await api.call('GET', '/v1/openapi.json', { token: null })).json;
});

test('every route is in the document once', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.servers).toMatchObject([{ url: '/' }]);
  const found = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = api.api.routes.map(
    ({ method, path }) => `${method} ${path.replace(/:([a-z_]+)\+?/g, '{$1}')}`,
  );
  expect(found.toSorted()).toEqual(routes.toSorted());
});

test('blocking routes are those marked in the contract', () => {
  const blocking = Object.entries<Record<string, { 'x-blocking'?: boolean }>>(document.paths)
    .filter(([, path]) => path.get?.['x-blocking'])
    .map(([path]) => path);
  expect(blocking).toEqual([
    '/v1/jobs',
    '/v1/job/{job_id}',
    '/v1/job/{job_id}/allocations',
    '/v1/job/{job_id}/evaluations',
    '/v1/job/{job_id}/deployments',
    '/v1/job/{job_id}/deployment',
    '/v1/job/{job_id}/summary',
    '/v1/plans',
    '/v1/plan/{id}',
    '/v1/job/{job_id}/versions',
    '/v1/jobs/statuses',
    '/v1/job/{job_id}/scale',
    '/v1/scaling/policies',
    '/v1/scaling/policy/{policy_id}',
    '/v1/job-policies',
    '/v1/job-policy/{name}',
    '/v1/services',
    '/v1/service/{service}',
    '/v1/job/{job_id}/services',
    '/v1/allocation/{alloc_id}/services',
    '/v1/allocations',
    '/v1/allocation/{alloc_id}',
    '/v1/deployments',
    '/v1/deployment/{deployment_id}',
    '/v1/deployment/allocations/{deployment_id}',
    '/v1/evaluations',
    '/v1/evaluations/count',
    '/v1/evaluation/{eval_id}',
    '/v1/evaluation/{eval_id}/allocations',
    '/v1/nodes',
    '/v1/node/{node_id}',
    '/v1/node/{node_id}/allocations',
    '/v1/nodes/topology',
    '/v1/node/pools',
    '/v1/node/pool/{name}',
    '/v1/node/pool/{name}/nodes',
    '/v1/node/pool/{name}/jobs',
    '/v1/node/introduction-tokens',
    '/v1/node/introduction-token/{id}',
    '/v1/operator/scheduler/configuration',
    '/v1/node/{node_id}/assignments',
    '/v1/acl/token/self',
    '/v1/acl/token/{accessor_id}',
    '/v1/acl/tokens',
    '/v1/acl/policy/{policy_id}',
    '/v1/acl/policy/name/{name}',
    '/v1/acl/policies',
    '/v1/acl/role/{role_id}',
    '/v1/acl/role/name/{name}',
    '/v1/acl/roles',
    '/v1/acl/auth-method/{name}',
    '/v1/acl/auth-methods',
    '/v1/acl/binding-rule/{rule_id}',
    '/v1/acl/binding-rules',
    '/v1/attention',
    '/v1/overview',
    '/v1/vars',
    '/v1/var/{path}',
    '/v1/config',
    '/v1/config/{kind}/{name}',
    '/v1/config/{kind}',
    '/v1/discovery-chain/{service}',
    '/v1/connect/intentions/match',
    '/v1/connect/intentions/matrix',
    '/v1/exported-services',
    '/v1/imported-services',
    '/v1/peering/{name}',
    '/v1/peerings',
    '/v1/namespace/{name}',
    '/v1/namespaces',
    '/v1/partition/{name}',
    '/v1/partitions',
  ]);
});

test('hidden fields are in no schema', () => {
  for (const hidden of ['SecretHash', 'SecretSealed', 'SealedConfig', 'Wrapped']) {
    expect(JSON.stringify(document)).not.toContain(hidden);
  }
});

test('a body requires only the fields that the server requires, and says which unknown fields are refused', () => {
  const bodyOf = (path: string, method: string) =>
    document.paths[path][method].requestBody.content['application/json'].schema;
  for (const path of Object.values<Record<string, { requestBody?: object }>>(document.paths)) {
    for (const { requestBody } of Object.values(path)) {
      const { content } = (requestBody ?? { content: {} }) as { content: object };
      expect(JSON.stringify(content)).not.toContain('"required":[');
    }
  }
  const token = bodyOf('/v1/acl/token', 'put');
  expect(token.additionalProperties).toBe(false);
  expect(token.properties.Policies.items.additionalProperties).toBe(false);
  expect(token.properties.Hash.readOnly).toBe(true);
  expect(token.properties.Description).not.toHaveProperty('readOnly');
  expect(token.properties.ExpirationTTL.type).toEqual(['integer', 'string']);
  // Unknown fields of a job are a warning.
  expect(bodyOf('/v1/jobs', 'post')).not.toHaveProperty('additionalProperties');
});

interface Operation {
  readonly operationId: string;
  /** The same operation with another method. */
  readonly 'x-same-as'?: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly { readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
type Content = Readonly<
  Record<string, { readonly schema?: XSchemaObject; readonly example?: unknown }>
>;

const operations = () =>
  Object.values<Record<string, Operation>>(document.paths).flatMap((path) => Object.values(path));

test('an operation has a stable id, a sentence and its permission', () => {
  const ids = operations().flatMap(({ operationId }) => operationId ?? []);
  expect(ids).toEqual(expect.arrayContaining(['jobs.register', 'jobs.stop', 'acl-tokens.create']));
  expect(new Set(ids).size).toBe(ids.length);
  for (const one of operations()) {
    const { operationId, 'x-same-as': same } = one;
    if (same === undefined) expect(operationId).toMatch(/^[a-z-]+\.[a-zA-Z]+$/);
    else
      expect([operationId, ids]).toEqual([
        `${same}.${operationId.split('.').at(-1)}`,
        expect.arrayContaining([same]),
      ]);
    expect(one.summary.length).toBeGreaterThan(8);
    expect(one.description).toMatch(/ Needs .+\.$/);
  }
});

test('nouns are defined once, and every reference resolves', () => {
  const { schemas } = document.components;
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining(['Job', 'JobOpenRequest', 'TaskGroup', 'Task', 'Node', 'AclToken']),
  );
  const references = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g) ?? [];
  expect(references.length).toBeGreaterThan(100);
  for (const reference of references) {
    expect(Object.keys(schemas)).toContain(reference.split('/').at(-1));
  }
});

test('every operation has an example that fits its schema', () => {
  const named = Object.fromEntries(
    Object.entries<XSchemaObject>(document.components.schemas).map(([name, schema]) => [
      name,
      withReferencesTo(schema),
    ]),
  );
  for (const { operationId, parameters, requestBody, responses } of operations()) {
    const contents = [requestBody?.content, responses[200]?.content].flatMap((content) =>
      Object.values(content ?? {}),
    );
    const examples = contents.filter(({ example }) => example !== undefined);
    for (const { schema, example } of examples) {
      const isRight = Check(named, withReferencesTo(schema!), example);
      expect([operationId, isRight ? 'right' : example]).toEqual([operationId, 'right']);
    }
    const texts = parameters.filter(({ example }) => example !== undefined);
    const isBytes = contents.length === 0;
    expect([operationId, examples.length + texts.length > 0 || isBytes]).toEqual([
      operationId,
      true,
    ]);
  }
});

/** The validator resolves references by name only. */
const withReferencesTo = (schema: XSchemaObject): XSchemaObject =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', ''));

/** Refusals that come from the state of the server, whatever the form of the body. */
const REFUSED_BY_STATE =
  /version-is-current|deployment-active|dispatch-refused|id-mismatch|leads nowhere|names no auth method|cannot be reached/;

test('the form of every example body in the contract is accepted', async () => {
  const refused: string[] = [];
  for (const { method, path, endpoint } of api.api.routes) {
    const body = endpoint.body?.example;
    if (body === undefined) continue;
    const url = path.replace(/:([a-z_]+)\+?/g, (_, name) => textFor(name));
    const { status, text } = await api.call(method, url, { body });
    if (status === 400 && !REFUSED_BY_STATE.test(text)) refused.push(`${method} ${url}: ${text}`);
  }
  expect(refused).toEqual([]);
});

test('answers have every field of their schema', async () => {
  for (const path of [
    '/v1/job/{job_id}',
    '/v1/job/{job_id}/summary',
    '/v1/job/{job_id}/versions',
  ]) {
    const { content } = withoutReferences(document).paths[path].get.responses[200];
    const { properties } = content['application/json'].schema;
    const { json } = await api.call('GET', path.replace('{job_id}', 'web'));
    expect(Object.keys(json)).toEqual(expect.arrayContaining(Object.keys(properties)));
  }
});

const junk = fc.jsonValue({ maxDepth: 3 });

/** Mostly values that fit the schema, sometimes any value. */
// biome-ignore lint/suspicious/noExplicitAny: a schema of any shape.
function arbitraryOf(schema: any, depth = 0): fc.Arbitrary<unknown> {
  const right = (): fc.Arbitrary<unknown> => {
    if (schema.oneOf)
      return fc.oneof(...schema.oneOf.map((one: unknown) => arbitraryOf(one, depth)));
    if (schema.anyOf)
      return fc.oneof(...schema.anyOf.map((one: unknown) => arbitraryOf(one, depth)));
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.type === 'integer') return fc.oneof(fc.integer(), fc.maxSafeInteger());
    if (schema.type === 'number') return fc.double();
    if (schema.type === 'boolean') return fc.boolean();
    if (schema.type === 'null') return fc.constant(null);
    if (schema.type === 'string')
      return fc.oneof(fc.string(), fc.constantFrom('web', '30s', 'x y'));
    if (depth > 5) return fc.constant(undefined);
    if (schema.type === 'array')
      return fc.array(arbitraryOf(schema.items, depth + 1), { maxLength: 2 });
    if (schema.properties) {
      const fields = Object.entries(schema.properties).map(([name, property]) => [
        name,
        fc.option(arbitraryOf(property, depth + 1), { nil: undefined, freq: 2 }),
      ]);
      return fc.record(Object.fromEntries(fields));
    }
    return fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 });
  };
  return fc.oneof({ weight: 19, arbitrary: right() }, { weight: 1, arbitrary: junk });
}

const words = fc.constantFrom(
  'web',
  'default',
  '*',
  '1',
  '0',
  'true',
  '30s',
  '-1',
  '',
  'ID == web',
);

// A request to a follower runs on three servers, and what it asks for is read by the leader as if it had come there.
test('no request of any shape is answered with a 500', async () => {
  const routes = api.api.routes.filter((route) => route.run.kind !== 'stream');
  for (const route of routes) {
    const { body: definition } = route.endpoint;
    const pattern = route.path.split(/:[a-z_]+\+?/);
    const names = Object.keys(document.paths[route.path.replace(/:([a-z_]+)\+?/g, '{$1}')]);
    expect(names).toContain(route.method.toLowerCase());
    const request = fc.record({
      parts: fc.array(fc.oneof(words, fc.string()), { minLength: 1, maxLength: 1 }),
      query: fc.dictionary(
        fc.constantFrom('namespace', 'filter', 'per_page', 'next_token', 'prefix', 'all', 'stale'),
        fc.oneof(words, fc.string()),
      ),
      body: definition === undefined ? fc.constant(undefined) : arbitraryOf(definition.schema),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ parts, query, body }) => {
        const path = pattern.join(encodeURIComponent(parts[0]!));
        const url = `${path}?${new URLSearchParams(query)}`;
        const answer = await api.call(route.method, url, body === undefined ? {} : { body });
        expect([answer.status, url, answer.status === 500 ? body : 0]).toEqual([
          answer.status === 500 ? 'not 500' : answer.status,
          url,
          0,
        ]);
      }),
      { numRuns: testsFollower ? 15 : 150 },
    );
  }
}, 60_000);

test('a valid job with one changed field is refused or registered, and never causes a bug', async () => {
  const { Job } = jobBody({}, { Count: 2, Networks: [{ DynamicPorts: [{ Label: 'http' }] }] });
  const errors: unknown[] = [];
  Object.assign(api.server.context.log, { error: (fields: unknown) => errors.push(fields) });
  const register = api.api.routes.find(({ endpoint }) => endpoint.id === 'jobs.register')!;
  const field = fc.constantFrom(...paths(register.endpoint.body!.schema));
  const change = field.chain(({ path, schema }) =>
    fc.tuple(fc.constant(path), arbitraryOf(schema)),
  );
  await fc.assert(
    fc.asyncProperty(change, async ([path, value]) => {
      const body = { Job: structuredClone(Job) };
      assign(body, path, value);
      const answer = await api.call('POST', '/v1/jobs', { body });
      expect(answer.status).not.toBe(500);
      await api.settle();
      expect(errors).toEqual([]);
    }),
    { numRuns: testsFollower ? 200 : 1_000 },
  );
}, 60_000);

interface Place {
  readonly path: readonly string[];
  readonly schema: unknown;
}

/** Every property below `Job`, with `0` for the first item of a list. */
// biome-ignore lint/suspicious/noExplicitAny: a schema of any shape.
function paths(schema: any, path: readonly string[] = []): Place[] {
  if (schema.anyOf) return paths(schema.anyOf[0], path);
  const here = path[0] === 'Job' && path.length > 1 ? [{ path, schema }] : [];
  if (schema.type === 'array') return [...here, ...paths(schema.items, [...path, '0'])];
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    paths(property, [...path, name]),
  );
  return [...here, ...inner];
}

function assign(target: object, path: readonly string[], value: unknown): void {
  // biome-ignore lint/suspicious/noExplicitAny: walks into objects and lists alike.
  let place: any = target;
  path.slice(0, -1).forEach((name, position) => {
    place[name] ??= path[position + 1] === '0' ? [] : {};
    place = place[name];
  });
  place[path.at(-1)!] = value;
}
