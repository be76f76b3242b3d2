import { describe, expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const accessor = '0a1b2c3d-0000-4000-8000-000000000001';
const explanation = {
  AccessorID: accessor,
  Permission: 'service:write on "web"',
  Allowed: false,
  Reason: 'The nearest rule denies it.',
  Rules: [
    {
      Policy: { ID: 'p', Name: 'web' },
      Via: ['the token → role "ops" → policy "web"'],
      Effect: 'deny',
      Text: 'service "web" {\n  policy = "deny"\n}',
      Line: 3,
      Column: 1,
    },
  ],
  Missing: 'service "web" { policy = "write" }',
};

describe('acl why', () => {
  const server = { 'GET /v1/acl/explain': { json: explanation } };

  test('shows the rule, its place and the link from the token, and exits with 1 for a denial', async () => {
    const { stdout, exitCode, seen } = await run(['acl', 'why', accessor, 'service:write', 'web'], {
      server,
    });
    expect(stdout).toBe(`Permission  service:write on "web"
Token       ${accessor}
Answer      denied
Because     The nearest rule denies it.

Policy "web", line 3, column 1
  by the token → role "ops" → policy "web"
  | service "web" {
  |   policy = "deny"
  | }

This rule would allow it
  service "web" { policy = "write" }
`);
    expect(exitCode).toBe(1);
    expect(seen[0]!.query).toMatchObject({ accessor, permission: 'service:write', name: 'web' });
  });

  test('asks about its own token by "self", and prints JSON', async () => {
    const allowed = { ...explanation, Allowed: true };
    const { stdout, exitCode, seen } = await run(['acl', 'why', 'self', 'acl:read', '-json'], {
      server: { 'GET /v1/acl/explain': { json: allowed } },
    });
    expect(JSON.parse(stdout)).toEqual(allowed);
    expect(exitCode).toBe(0);
    expect(seen[0]!.query).not.toHaveProperty('accessor');
  });
});

describe('acl policy test', () => {
  const files = {
    'rules/web.test.hcl':
      'policies = ["web.hcl"]\nallow = ["service:write web"]\ndeny = ["key:read a"]',
    'rules/web.hcl': 'service "web" { policy = "write" }',
    'wrong.hcl': 'policies = ["rules/web.hcl"]\ndeny = ["service:read web"]',
    'unreadable.hcl': 'policies = [',
    'bad-rules.hcl': 'rules = "service \\"web\\" { policy = \\"x\\" }"\nallow = []',
  };

  test('needs no agent, and reads files of rules relative to the test file', async () => {
    const ran = await run(['acl', 'policy', 'test', 'rules/web.test.hcl'], { files });
    expect([ran.exitCode, ran.seen]).toEqual([0, []]);
    expect(ran.stdout).toBe(`ok  line 2: allow service:write on "web"
ok  line 3: deny key:read on "a"
2 expectations met.
`);
  });

  test('shows the rule that contradicts an expectation, and exits with 1', async () => {
    const { stdout, exitCode } = await run(['acl', 'policy', 'test', 'wrong.hcl'], { files });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('FAILED  line 2: deny service:read on "web"');
    expect(stdout).toContain('Policy "rules/web.hcl", line 1, column 1');
    expect(stdout).toContain('1 of 1 expectation not met.');
    const json = await run(['acl', 'policy', 'test', 'wrong.hcl', '-json'], { files });
    expect(JSON.parse(json.stdout)).toMatchObject([{ Line: 2, Met: false, Allowed: true }]);
  });

  test.each([
    ['unreadable.hcl', /unreadable\.hcl:1:\d+: /],
    ['bad-rules.hcl', /bad-rules\.hcl:1:\d+: Expected "deny", "read" or "write", found "x"/],
    ['missing.hcl', /missing\.hcl" cannot be read/],
  ])('tells where %s is wrong', async (file, fault) => {
    const { stderr, exitCode } = await run(['acl', 'policy', 'test', file], { files });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(fault);
  });
});

describe('acl policy diff', () => {
  const files = {
    'old.hcl': 'operator = "read"',
    'new.hcl': 'key_prefix "a/" { policy = "read" }',
  };

  test('compares two files', async () => {
    const { stdout, exitCode, seen } = await run(['acl', 'policy', 'diff', 'old.hcl', 'new.hcl'], {
      files,
    });
    expect([exitCode, seen]).toEqual([0, []]);
    expect(stdout).toBe(`+ key:read on "a/…"
- mesh:read
- operator:read
- peering:read
`);
  });

  test('an unknown policy, which is not a file either, is reported', async () => {
    const problem = { code: 'policy-not-found', detail: 'There is no policy "ops".' };
    const { stderr, exitCode } = await run(['acl', 'policy', 'diff', 'ops', 'new.hcl'], {
      files,
      server: { 'GET /v1/acl/policy/name/ops': { status: 404, json: problem } },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('There is no policy and no file "ops".');
  });
});
