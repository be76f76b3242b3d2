/**
 * Encoded rows, texts of lists, callers and routes that a server keeps: its answers are those of a server that has answered
 * nothing before, over the same state.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Api } from '../../src/api/api.ts';
import type { Request } from '../../src/api/http.ts';
import { allocations, clusterIdentity } from '../../src/state/tables.ts';
import {
  introduction,
  jobBody,
  nodeBody,
  rootToken,
  startApi,
  type TestApi,
} from '../support/api.ts';

const jobIds = ['web', 'db', 'web/sub'] as const;
const spaces = ['default', 'team'] as const;
const secret = 'aaaaaaaa-1111-4111-8111-111111111111';
const accessor = 'aaaaaaaa-2222-4222-8222-222222222222';
const rules = [
  '',
  'namespace "default" { policy = "read" }',
  'namespace "team" { policy = "read" }',
  'namespace "*" { policy = "write" }\nnode_prefix "" { policy = "read" }',
  'namespace "default" { policy = "deny" }',
] as const;
const node = nodeBody();

const paths = [
  ...jobIds.flatMap((id) => [
    `/v1/job/${id}`,
    `/v1/job/${encodeURIComponent(id)}`,
    `/v1/job/${id}?pretty`,
    `/v1/job/${id}?namespace=team`,
    `/v1/job/${id}/version/0`,
    `/v1/job/${id}/versions`,
    `/v1/job/${id}/summary`,
    `/v1/job/${id}/allocations`,
    `/v1/job/${id}/evaluations`,
  ]),
  '/v1/jobs',
  '/v1/jobs?meta=true',
  '/v1/jobs?pretty',
  '/v1/jobs?namespace=*',
  '/v1/jobs?namespace=*&reverse=true',
  '/v1/jobs?per_page=1&total=true',
  '/v1/jobs?filter=Status+%3D%3D+%22dead%22',
  '/v1/jobs?prefix=web',
  '/v1/allocations?namespace=*',
  `/v1/node/${node.Node.ID}/assignments`,
] as const;

const anyOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
const kind = <K extends string>(name: K) => fc.constant(name);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind('register'),
      id: anyOf(jobIds),
      space: anyOf(spaces),
      meta: anyOf(['ä', '"\\', '\u2028€']),
      count: fc.nat(2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: kind('end'), id: anyOf(jobIds), purge: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind('report'),
      which: fc.nat(5),
      ClientStatus: anyOf(['running', 'failed', 'complete']),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('policy'), text: anyOf(rules) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('token'), isThere: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('save') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('restore') }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: kind('ask'),
      path: anyOf(paths),
      token: anyOf([rootToken, secret, secret, node.SecretID, undefined]),
      connection: fc.nat(1),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Answers from what the state has, and keeps nothing. */
const forgetful = ({ server, world }: TestApi) =>
  new Api({
    server,
    acl: { enabled: true, defaultPolicy: 'deny', secrets: world.secrets },
    name: 'test',
    version: '0.0.0',
    connections: { perAddressMax: 0, perLoopbackMax: 0 },
    hosts: [],
    dialects: [],
    node: () => undefined,
  });

async function answerOf(api: Pick<Api, 'handle'>, request: Request) {
  const { status, headers, body } = await api.handle(request);
  const isStream = typeof body === 'object' && !(body instanceof Uint8Array);
  expect(isStream).toBe(false);
  return { status, headers, text: Buffer.from((body ?? '') as string).toString() };
}

class Life {
  readonly #api: TestApi;
  readonly #connections = [{}, {}];
  #saved: { readonly bytes: Uint8Array } | undefined;
  #policy = '';

  private constructor(api: TestApi) {
    this.#api = api;
  }

  static async begin(): Promise<Life> {
    const life = new Life(await startApi());
    const { call } = life.#api;
    await call('PUT', '/v1/node/register', { body: node, token: introduction });
    await call('PUT', '/v1/namespace/team', { body: { Name: 'team' } });
    const { json } = await call('PUT', '/v1/acl/policy', { body: { Name: 'p', Rules: '' } });
    life.#policy = json.ID;
    await life.take({ kind: 'token', isThere: true });
    return life;
  }

  async take(one: Step): Promise<void> {
    const { call, settle, worked, state } = this.#api;
    switch (one.kind) {
      case 'register': {
        const { id: ID, space: Namespace, meta, count: Count } = one;
        const body = jobBody({ ID, Namespace, Meta: { meta } }, { Count });
        await call('POST', `/v1/jobs?namespace=${Namespace}`, { body });
        return settle();
      }
      case 'end':
        await call('DELETE', `/v1/job/${one.id}?purge=${one.purge}`);
        return settle();
      case 'report': {
        const all = [...state.read().table(allocations).scan()];
        const { ID } = all[one.which % all.length] ?? {};
        const path = `/v1/node/${node.Node.ID}/status`;
        const body = { Allocations: [{ ID, ClientStatus: one.ClientStatus }] };
        if (ID !== undefined) await call('PUT', path, { body, token: node.SecretID });
        return settle();
      }
      case 'policy': {
        const body = { Name: 'p', Rules: one.text };
        await call('PUT', `/v1/acl/policy/${this.#policy}`, { body });
        return;
      }
      case 'token': {
        const Policies = [{ ID: this.#policy }];
        const body = { AccessorID: accessor, SecretID: secret, Policies };
        if (one.isThere) await call('PUT', '/v1/acl/token', { body });
        else await call('DELETE', `/v1/acl/token/${accessor}`);
        return;
      }
      case 'save': {
        const { signal } = new AbortController();
        this.#saved = await worked(call('GET', '/v1/operator/snapshot', { signal }));
        return;
      }
      case 'restore': {
        if (this.#saved === undefined) return;
        const cluster = state.read().table(clusterIdentity).get('cluster')!.ID;
        const path = `/v1/operator/snapshot?force=${cluster}`;
        const { status } = await worked(call('PUT', path, { body: this.#saved.bytes }));
        expect(status).toBe(200);
        return settle();
      }
      default:
        return this.#compare(one);
    }
  }

  async #compare({ path: url, token, connection }: Extract<Step, { kind: 'ask' }>): Promise<void> {
    const [path = '', query = ''] = url.split('?', 2);
    const headers = token === undefined ? {} : { 'x-registry-token': token };
    const request = { method: 'GET', path, query, headers, body: undefined };
    const kept = { ...request, connection: this.#connections[connection]! };
    const found = await answerOf(this.#api.api, kept);
    expect([url, found]).toEqual([url, await answerOf(forgetful(this.#api), request)]);
  }

  stop(): void {
    this.#api.server.stop();
  }
}

test('answers with kept parts are those of a server that keeps none', async () => {
  const lives = fc.array(step, { minLength: 10, maxLength: 60, size: 'max' });
  await fc.assert(
    fc.asyncProperty(lives, async (steps) => {
      const life = await Life.begin();
      for (const one of steps) await life.take(one);
      life.stop();
    }),
    { numRuns: 60 },
  );
}, 60_000);
