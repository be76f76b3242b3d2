import { expect, test } from 'vitest';
import type { Route } from '../../src/api/route.ts';
import {
  type Called,
  introduction,
  jobBody,
  nodeBody,
  rootToken,
  startApi,
  type TestApi,
} from '../support/api.ts';

/** Kinds of callers by the rules of their policy, in the order of the columns. */
const byRules: readonly (readonly [column: string, rules: string])[] = [
  ['jobs read', 'namespace "default" { policy = "read" }'],
  ['jobs write', 'namespace "default" { policy = "write" }'],
  ['other jobs', 'namespace "other" { policy = "write" acl = "write" }'],
  ['acl read', 'acl = "read"'],
  ['acl write', 'acl = "write"'],
  ['node read', 'node_prefix "" { policy = "read" }'],
  ['node write', 'node { policy = "write" }'],
  ['one node', 'node "node-1" { policy = "write" }'],
  ['agent read', 'agent_prefix "" { policy = "read" }'],
  ['operator read', 'operator = "read"'],
  ['operator write', 'operator = "write"'],
];

/** Values of path parameters: unknown records, except for the one node. */
const parameters: Readonly<Record<string, string>> = {
  node_id: nodeBody().Node.ID,
  name: 'missing',
  kind: 'service-defaults',
};
const missingId = '99999999-9999-4999-8999-999999999999';

/** Bodies of routes that need more than `{}`. */
const bodies: Readonly<Record<string, unknown>> = {
  'POST /v1/jobs': jobBody(),
  'PUT /v1/jobs': jobBody(),
  'POST /v1/job/:job_id+': jobBody(),
  'PUT /v1/job/:job_id+': jobBody(),
  'PUT /v1/node/register': nodeBody(),
  'PUT /v1/node/pools': { Name: 'missing' },
  'POST /v1/node/pools': { Name: 'missing' },
  'POST /v1/internal/acl/authorize': [],
  'PUT /v1/config': { Kind: 'service-defaults', Name: 'missing' },
};
const queries: Readonly<Record<string, string>> = {
  'GET /v1/acl/explain': `permission=acl:read&accessor=${missingId}`,
  'GET /v1/connect/intentions/check': 'source=a&destination=missing',
  'GET /v1/connect/intentions/match': 'by=destination&name=missing',
  'GET /v1/job/:job_id+/submission': 'version=0',
  'GET /v1/client/fs/logs/:alloc_id': 'task=web&type=stdout',
  'GET /v1/client/fs/readat/:alloc_id': 'offset=0&limit=1',
  'GET /v1/client/allocation/:alloc_id/exec': `task=web&command=${encodeURIComponent('["true"]')}`,
  'GET /v1/peering/:name/why': 'service=web',
  'GET /v1/job/:job_id+/action': `task=web&action=greet&alloc_id=${missingId}`,
};

async function callers(api: TestApi): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>([
    ['management', rootToken],
    ['nobody', null],
  ]);
  const token = async (column: string, policy: string) => {
    const body = { Policies: [{ Name: policy }] };
    found.set(column, (await api.call('PUT', '/v1/acl/token', { body })).json.SecretID);
  };
  await token('read-only', 'builtin/global-read-only');
  for (const [column, Rules] of byRules) {
    const Name = column.replaceAll(' ', '-');
    await api.call('PUT', '/v1/acl/policy', { body: { Name, Rules } });
    await token(column, Name);
  }
  await api.call('PUT', '/v1/node/register', { body: nodeBody(), token: introduction });
  found.set('the node', nodeBody().SecretID);
  found.set('new node', introduction);
  return found;
}

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;

function urlOf(route: Route): string {
  const path = route.path.replace(/:([a-z_]+)\+?/g, (_, name) => parameters[name] ?? missingId);
  const query = queries[nameOf(route)];
  return query === undefined ? path : `${path}?${query}`;
}

/** `yes`: the permission was given, whatever the outcome. */
function cellOf({ status, json }: Called): string {
  if (status === 500) return 'bug';
  if (json?.code === 'permission-denied' && status === 403) return '·';
  return status === 400 && parsing.includes(json.code) ? 'unread' : 'yes';
}
const parsing = ['malformed-json', 'body-required', 'invalid-query'];

const permissionIn = (answer: Called): string =>
  /lacks the permission (.*)\.$/.exec(answer.json?.detail ?? '')?.[1] ?? 'open';

test('every route admits the callers in the table and no others', async () => {
  const api = await startApi();
  const tokens = await callers(api);
  const rows: string[][] = [['', 'needs', ...tokens.keys()]];
  for (const route of api.api.routes) {
    const name = nameOf(route);
    const controller = new AbortController();
    controller.abort();
    const body = route.endpoint.body === undefined ? undefined : (bodies[name] ?? {});
    const answers: Called[] = [];
    for (const token of tokens.values()) {
      const { signal } = controller;
      const answer = await api.call(route.method, urlOf(route), { token, signal, body });
      answers.push(answer);
      // It may have deleted the node that others need.
      if (route.method === 'GET' || answer.status !== 200) continue;
      await api.call('PUT', '/v1/node/register', { body: nodeBody(), token: introduction });
    }
    const told = permissionIn(answers[1]!).replaceAll(nodeBody().Node.ID, 'NODE');
    const needs = route.endpoint.permission.kind === 'decided' ? `${told} *` : told;
    rows.push([name, needs, ...answers.map(cellOf)]);
  }
  for (const row of rows) expect(row).not.toEqual(expect.arrayContaining(['unread']));
  for (const row of rows) expect(row).not.toEqual(expect.arrayContaining(['bug']));
  await expect(table(rows)).toMatchFileSnapshot('../golden/permissions.txt');
});

function table(rows: readonly (readonly string[])[]): string {
  const rules = byRules.map(([column, text]) => `#   ${column}: ${text}`);
  const heading = [
    '# Who may call what: every route, and every kind of caller. Written by the test',
    '# test/api/permissions.test.ts; CONTRIBUTING.md tells how to write it anew. Read what changes.',
    '#   management: the root token; nobody: no token; read-only: the builtin policy',
    ...rules,
    '#   the node: the secret of the node that is asked about; new node: the introduction token',
    '#   *: a named function beside the contract decides: it depends on stored rows or on the body',
    '',
  ];
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
  return `${[...heading, ...lines].join('\n')}\n`;
}
