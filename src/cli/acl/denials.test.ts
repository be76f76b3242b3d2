import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const denial = {
  ID: '1',
  Time: '2026-01-01T00:00:00Z',
  AccessorID: 'a0000000-0000-4000-8000-000000000000',
  Caller: 'a token',
  Method: 'GET',
  Path: '/v1/nodes\u001b[31m',
  Code: 'permission-denied',
  Permission: 'node:read on any',
};

test('refused requests are listed with the permission that was lacking', async () => {
  const unknown = { ...denial, AccessorID: '', Caller: 'somebody', Permission: '' };
  const server = { 'GET /v1/acl/denials': { json: [denial, unknown] } };
  const { stdout, seen } = await run(['acl', 'denials', '-server-id=leader'], { server });
  expect(stdout).toMatch(/a0000000 +GET \/v1\/nodes \[31m +permission-denied +node:read on any/);
  expect(stdout).toMatch(/somebody +GET .* -\n/);
  expect(stdout).not.toContain('\u001b');
  expect(seen[0]!.query).toMatchObject({ server_id: 'leader' });
});

test('an empty list says so', async () => {
  const server = { 'GET /v1/acl/denials': { json: [] } };
  const { stdout } = await run(['acl', 'denials'], { server });
  expect(stdout).toBe('No refused requests are known.\n');
});
