import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRules } from '../language/rules/parse.ts';
import type { Caller } from '../model/permission/caller.ts';
import {
  allOf,
  anyOf,
  management,
  namedAccess,
  namespaceCapability,
  open,
  type Permission,
  resourceAccess,
} from '../model/permission/permission.ts';
import { allows, type Subject } from './authorizer.ts';
import { questionOf, type RulePermission } from './decide.ts';
import { explain, ruleFor } from './explain.ts';
import type { Policy } from './grants.ts';
import { RuleTable } from './rule-table.ts';
import { anyScenario } from './rules.test-helper.ts';

const token: Caller = {
  kind: 'token',
  accessor: 't',
  management: false,
  namespace: 'default',
  partition: 'default',
};
const callers: readonly Caller[] = [
  token,
  { ...token, management: true },
  { kind: 'anonymous', accessor: 'a' },
  { kind: 'node', nodeId: 'n' },
  { kind: 'introduction', id: 'i' },
  { kind: 'unrestricted' },
];
const leaves: readonly Permission[] = [
  open,
  management,
  { kind: 'node-introduction' } as const,
  { kind: 'own-node', nodeId: 'n' },
  { kind: 'own-node', nodeId: 'other' },
];

describe('an explanation', () => {
  it('agrees with the decision', () => {
    const compound = (leaf: fc.Arbitrary<Permission>): fc.Arbitrary<Permission> => {
      const some = fc.array(leaf, { maxLength: 3 });
      return fc.oneof(
        leaf,
        some.map((of) => anyOf(...of)),
        some.map((of) => allOf(...of)),
      );
    };
    const scenario = anyScenario.chain(({ policies, questions, defaultAllows }) => {
      const byRules = questions.map((question): Permission => {
        const { resource, access, name, extent, ...place } = question;
        if (resource === 'namespace') return namespaceCapability(name, access);
        return namedAccess(resource as never, access as never, name, { ...place, extent });
      });
      return fc.record({
        policies: fc.constant(policies),
        defaultPolicy: fc.constant(defaultAllows ? ('allow' as const) : ('deny' as const)),
        caller: fc.constantFrom(...callers),
        permission: compound(compound(fc.constantFrom(...leaves, ...byRules, ...byRules))),
      });
    });
    fc.assert(
      fc.property(scenario, ({ policies, defaultPolicy, caller, permission }) => {
        const hasRules = caller.kind === 'token' || caller.kind === 'anonymous';
        const rules = hasRules ? new RuleTable(policies) : undefined;
        const subject: Subject = { caller, rules, defaultPolicy };
        expect(explain(subject, permission).Allowed).toBe(allows(subject, permission));
      }),
      { numRuns: 1000 },
    );
  });
});

const place = { Namespace: 'default', Partition: 'default' };
const policyOf = (text: string, ID = 'p'): Policy => ({
  ID,
  Name: `policy ${ID}`,
  ...place,
  rules: parseRules(text).rules,
});
const subjectOf = (...policies: readonly Policy[]): Subject => ({
  caller: token,
  rules: new RuleTable(policies),
  defaultPolicy: 'deny',
});

describe('the rules that decided', () => {
  const web = 'service "web" { policy = "write" }';
  const all = 'service_prefix "" {\n  policy = "deny"\n}';
  const cases: readonly [string, readonly string[], Permission, object][] = [
    [
      'a narrower rule that gives it',
      [`${all}\n\n  ${web}`],
      namedAccess('service', 'write', 'web'),
      { Allowed: true, Rules: [{ Effect: 'allow', Text: web, Line: 5, Column: 3 }] },
    ],
    [
      'only the denial, among rules with the same label',
      [all, 'service_prefix "" { policy = "write" }'],
      namedAccess('service', 'read', 'api'),
      { Allowed: false, Rules: [{ Policy: { ID: '0' }, Effect: 'deny', Text: all, Line: 1 }] },
    ],
    [
      'a rule that gives too little',
      ['service "web" { policy = "read" }'],
      namedAccess('service', 'write', 'web'),
      { Allowed: false, Rules: [{ Effect: 'too-little' }], Missing: web },
    ],
    [
      'no rule, with the missing rule',
      ['operator = "read"'],
      namespaceCapability('prod', 'submit-job'),
      {
        Allowed: false,
        Rules: [],
        Missing: 'namespace "prod" { capabilities = ["submit-job"] }',
      },
    ],
    [
      'a rule for the operator, which also decides for the mesh',
      ['operator = "write"'],
      resourceAccess('mesh', 'read'),
      { Allowed: true, Rules: [{ Effect: 'allow', Text: 'operator = "write"' }] },
    ],
  ];
  it.each(cases)('%s', (_, texts, permission, expected) => {
    const subject = subjectOf(...texts.map((text, id) => policyOf(text, String(id))));
    expect(explain(subject, permission)).toMatchObject(expected);
  });

  it('names a missing rule that would give the permission', () => {
    const names = fc.constantFrom('web', 'a"b', '$' + '{x}', '%{x}', 'a/b');
    const asked = fc.record({
      resource: fc.constantFrom(
        'agent',
        'event',
        'identity',
        'intention',
        'key',
        'node',
        'query',
        'service',
        'session',
        'variable',
        'node_pool',
        'host_volume',
        'namespace',
        'acl',
        'operator',
        'mesh',
        'plugin',
        'quota',
        'keyring',
        'peering',
      ),
      name: names,
      extent: fc.constantFrom('one', 'every', 'under'),
      namespace: fc.constantFrom('default', 'team'),
    });
    const fine = ['variable', 'node_pool', 'namespace', 'host_volume'];
    const whole = ['acl', 'operator', 'mesh', 'plugin', 'quota', 'keyring', 'peering'];
    fc.assert(
      fc.property(asked, ({ resource, name, extent, namespace }) => {
        const isWhole = whole.includes(resource);
        const inPlace = ['operator', 'keyring', 'mesh', 'peering', 'plugin', 'quota'];
        const nowhere = [...inPlace, 'agent', 'node_pool', 'host_volume'].includes(resource);
        const spot = { namespace: nowhere ? 'default' : namespace };
        const access = resource === 'host_volume' ? 'mount-readonly' : 'read';
        const permission = (
          resource === 'namespace'
            ? namespaceCapability(name, 'read-job')
            : isWhole
              ? resourceAccess(resource as never, 'read', spot)
              : namedAccess(resource as never, access, name, {
                  ...spot,
                  extent: fine.includes(resource) ? 'one' : (extent as never),
                })
        ) as RulePermission;
        expect(allows(subjectOf(), permission)).toBe(false);
        const missing = policyOf(ruleFor(questionOf(permission)));
        expect(allows(subjectOf(missing), permission)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
