import { describe, expect, it } from 'vitest';
import { type PolicyChange, type PolicySet, policyChanges } from './policy-diff.ts';
import { parsePolicyTest, policyOf, runPolicyTest } from './policy-test.ts';

const file = `
policies = ["web.hcl"]
allow = ["service:write web", "namespace:read-job team"]
deny  = ["operator:read", "service:write web"]
namespace "team" {
  deny = ["service:read web"]
}`;
const web = 'service "web" { policy = "write" }\nnamespace "team" { policy = "read" }';

describe('a policy test', () => {
  it('reports for each expectation whether it is met, and why', () => {
    const test = parsePolicyTest(file);
    expect(test.policies).toEqual(['web.hcl']);
    const results = runPolicyTest(test, new Map([['web.hcl', web]]));
    expect(results.map(({ line, expected, met }) => [line, expected, met])).toEqual([
      [3, 'allow', true],
      [3, 'allow', true],
      [4, 'deny', true],
      [4, 'deny', false],
      [6, 'deny', true],
    ]);
    expect(results[3]!.explanation.Rules[0]).toMatchObject({
      Policy: { Name: 'web.hcl' },
      Line: 1,
    });
  });

  const wrong: readonly [string, RegExp][] = [
    ['allow = ["x:read"]', /names no resource "x".*\(line 1, column 10\)/],
    ['allow = ["service:eat web"]', /no access "eat" to service/],
    ['alow = []', /A policy test has policies/],
    ['default = "maybe"', /"default" is "allow" or "deny"/],
    ['allow = [1]', /Expected a text/],
    ['namespace "a" { rules = "" }', /A policy test has allow, deny/],
    ['allow = [', /line 1/],
  ];
  it.each(wrong)('refuses %s', (text, fault) => {
    expect(() => parsePolicyTest(text)).toThrow(fault);
  });
});

describe('the changes between two sets of policies', () => {
  const cases: readonly [string, string, string, readonly string[]][] = [
    ['nothing', web, `# the same\n${web}`, []],
    [
      'another policy for a name',
      'service "web" { policy = "read" }',
      'service "web" { policy = "write" }',
      ['gained service:write on "web"'],
    ],
    [
      'a prefix, without the names of a narrower rule',
      'service_prefix "" { policy = "write" }\nservice "web" { policy = "deny" }',
      'service_prefix "" { policy = "read" }\nservice "web" { policy = "deny" }',
      ['lost service:write on "…"'],
    ],
    [
      'the operator, and the resources that fall back on it',
      'operator = "read"',
      '',
      ['lost mesh:read', 'lost operator:read', 'lost peering:read'],
    ],
    [
      'a capability in the namespaces of a glob',
      'namespace "team-*" { capabilities = ["read-job"] }',
      'namespace "team-*" { capabilities = ["read-job", "read-logs"] }',
      ['gained namespace:read-logs on "team-…"'],
    ],
  ];
  const setOf = (text: string): PolicySet => ({ policies: [policyOf('p', text)] });
  const said = (changes: readonly PolicyChange[]) =>
    changes.map(({ permission, change }) => `${change} ${permission}`);
  it.each(cases)('%s', (_, before, after, expected) => {
    expect(said(policyChanges(setOf(before), setOf(after)))).toEqual(expected);
  });

  it('leave the decision to the default policy where a rule is removed', () => {
    const [before, after] = [setOf('key "a" { policy = "read" }'), setOf('')];
    expect(said(policyChanges(before, after))).toEqual(['lost key:read on "a"']);
    expect(said(policyChanges(before, after, 'allow'))).toEqual([
      'gained key:list on "a"',
      'gained key:write on "a"',
    ]);
    expect(said(policyChanges(setOf('key "a" { policy = "deny" }'), after, 'allow'))).toEqual([
      'gained key:list on "a"',
      'gained key:read on "a"',
      'gained key:write on "a"',
    ]);
  });

  it("include defaults of the namespace where the token's own policies have no rule", () => {
    const own = (text: string): PolicySet => ({
      ...setOf(text),
      defaults: [policyOf('d', 'key_prefix "" { policy = "read" }')],
    });
    const denied = 'key "a" { policy = "deny" }';
    expect(said(policyChanges(own(''), own(denied)))).toEqual([
      'lost key:read on "a"',
      'lost key:read on every one',
    ]);
  });
});
