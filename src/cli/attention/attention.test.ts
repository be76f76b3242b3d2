import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const item = {
  Kind: 'evaluation-blocked',
  Severity: 'warning',
  Noun: 'evaluation',
  ID: '7f3a0000-0000-4000-8000-000000000000',
  Name: 'web',
  Namespace: 'shop',
  JobID: 'web',
  Since: '2026-01-01T00:00:00Z',
  Reason: 'no room\u001b[31m',
};
const answer = (Items: object[], Total = Items.length) => ({
  json: { Items, Total, BySeverity: {}, ByKind: {} },
});

test('items are listed with their place and reason, and the number of further ones', async () => {
  const server = { 'GET /v1/attention': answer([item], 3) };
  const { stdout, exitCode } = await run(['attention'], { server, columns: 200 });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/warning +evaluation-blocked +evaluation web 7f3a0000 in shop/);
  expect(stdout).toContain('no room');
  expect(stdout).not.toContain('\u001b');
  expect(stdout).toContain('2 further items not shown.');
});

test('choices are passed on, and an empty answer says so', async () => {
  const words = ['attention', '-severity=critical', '-kind=node-down', '-namespace=shop'];
  const { stdout, seen } = await run(words, { server: { 'GET /v1/attention': answer([]) } });
  expect(seen[0]!.query).toMatchObject({
    severity: 'critical',
    kind: 'node-down',
    namespace: 'shop',
  });
  expect(stdout).toBe('Nothing needs attention that your token may read.\n');
});
