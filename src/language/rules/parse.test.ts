import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HclError } from '../hcl/errors.ts';
import { namespaceCapabilities } from './capabilities.ts';
import type { RulesLimits } from './limits.ts';
import { parseRules } from './parse.ts';
import type { Access, Rule, ScopeName } from './rule.ts';

const scope = (found: ScopeName | undefined, word: string): string =>
  found === undefined ? '' : ` ${word}=${found.match}:${JSON.stringify(found.name)}`;

/** A line for each rule: its names, its access, its reach. */
const shownRule = (rule: Rule): string => {
  const target = rule.match === 'all' ? 'all' : `${rule.match}:${JSON.stringify(rule.name)}`;
  const intentions = rule.intentions === undefined ? '' : ` intentions=${rule.intentions}`;
  const capabilities = rule.capabilities.length === 0 ? '' : ` [${rule.capabilities.join(' ')}]`;
  const scopes = scope(rule.partition, 'partition') + scope(rule.namespace, 'namespace');
  return `${rule.resource} ${target} ${rule.access ?? '-'}${intentions}${capabilities}${scopes}`;
};

const shown = (text: string): readonly string[] => parseRules(text).rules.map(shownRule);

function faults(text: string, options: Partial<RulesLimits> = {}): readonly string[] {
  try {
    parseRules(text, options);
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    return error.faults.map(({ line, column, sentence }) => `${line}:${column} ${sentence}`);
  }
  throw new Error(`parsed: ${text}`);
}

const read =
  'csi-list-volume csi-read-volume host-volume-read list-jobs list-scaling-policies parse-job ' +
  'read-job read-job-scaling read-scaling-policy';

describe('each resource', () => {
  test.each<[text: string, ...rules: string[]]>([
    // Scalars.
    ['acl = "read"', 'acl all read'],
    ['keyring = "write"', 'keyring all write'],
    ['mesh = "deny"', 'mesh all deny'],
    ['operator = "read"', 'operator all read'],
    ['operator { policy = "read" }', 'operator all read'],
    ['peering = "write"', 'peering all write'],
    ['plugin { policy = "list" }', 'plugin all list'],
    ['quota { policy = "write" }', 'quota all write'],
    // With a name.
    ['agent "a" { policy = "read" }', 'agent exact:"a" read'],
    ['agent_prefix "a" { policy = "read" }', 'agent prefix:"a" read'],
    ['agent { policy = "write" }', 'agent all write'],
    ['event "a" { policy = "read" }', 'event exact:"a" read'],
    ['event_prefix "" { policy = "read" }', 'event prefix:"" read'],
    ['identity "a" { policy = "write" }', 'identity exact:"a" write'],
    ['identity_prefix "" { policy = "read" }', 'identity prefix:"" read'],
    ['key "a/b" { policy = "list" }', 'key exact:"a/b" list'],
    ['key_prefix "a" { policy = "deny" }', 'key prefix:"a" deny'],
    ['node "a" { policy = "read" }', 'node exact:"a" read'],
    ['node_prefix "" { policy = "write" }', 'node prefix:"" write'],
    ['node { policy = "read" }', 'node all read'],
    ['query "a" { policy = "read" }', 'query exact:"a" read'],
    ['query_prefix "a" { policy = "read" }', 'query prefix:"a" read'],
    ['service "a" { policy = "read" }', 'service exact:"a" read'],
    ['service "*" { policy = "read" }', 'service exact:"*" read'],
    [
      'service_prefix "" { policy = "write" intentions = "read" }',
      'service prefix:"" write intentions=read',
    ],
    ['session "a" { policy = "read" }', 'session exact:"a" read'],
    ['session_prefix "a" { policy = "read" }', 'session prefix:"a" read'],
    // Of the scheduler.
    ['host_volume "a" { policy = "read" }', 'host_volume exact:"a" read [mount-readonly]'],
    [
      'host_volume "a*" { policy = "write" }',
      'host_volume glob:"a*" write [mount-readonly mount-readwrite]',
    ],
    [
      'host_volume "a" { capabilities = ["mount-readonly"] }',
      'host_volume exact:"a" - [mount-readonly]',
    ],
    ['node_pool "a" { policy = "write" }', 'node_pool exact:"a" write [delete read write]'],
    ['node_pool "*" { policy = "deny" }', 'node_pool glob:"*" deny [deny]'],
    ['namespace "a" { policy = "read" }', `namespace exact:"a" read [${read}]`],
    [
      'namespace "a-*" { policy = "scale" }',
      'namespace glob:"a-*" scale [list-scaling-policies read-job read-job-scaling ' +
        'read-scaling-policy scale-job submit-recommendation]',
    ],
    ['namespace "a" { policy = "deny" }', 'namespace exact:"a" deny [deny]'],
    [
      'namespace "a" { capabilities = ["policy-override", "alloc-node-exec", "policy-override"] }',
      'namespace exact:"a" - [alloc-node-exec policy-override]',
    ],
    [
      'namespace "a" {\n policy = "read"\n capabilities = ["submit-job"]\n}',
      `namespace exact:"a" read [${read} submit-job]`,
    ],
    ['namespace_prefix "a" { policy = "read" }', `namespace prefix:"a" read [${read}]`],
    ['namespace "a" {}'],
    [
      'namespace "a" { variables {\n path "x/*" { capabilities = ["write", "read"] }\n path "y" { capabilities = [] } } }',
      'variable glob:"x/*" - [read write] namespace=exact:"a"',
      'variable exact:"y" - namespace=exact:"a"',
    ],
    // Around rules.
    [
      'namespace "a" {\n acl = "read"\n key_prefix "" { policy = "list" }\n}',
      'acl all read namespace=exact:"a"',
      'key prefix:"" list namespace=exact:"a"',
    ],
    [
      'partition "p" {\n mesh = "read"\n namespace_prefix "" { node { policy = "read" } }\n}',
      'mesh all read partition=exact:"p"',
      'node all read partition=exact:"p" namespace=prefix:""',
    ],
    [
      'partition_prefix "p" { service "s" { policy = "read" } }',
      'service exact:"s" read partition=prefix:"p"',
    ],
  ])('%j', (text, ...rules) => {
    expect(shown(text)).toEqual(rules);
  });

  test('the coarse policies of a namespace', () => {
    const { read, write, scale } = namespaceCapabilities.policies;
    expect(write).toEqual(expect.arrayContaining([...read!, ...scale!]));
    for (const kept of ['alloc-node-exec', 'policy-override', 'csi-register-plugin']) {
      expect(write).not.toContain(kept);
      expect(namespaceCapabilities.known).toContain(kept);
    }
  });
});

describe('how rules are written', () => {
  test.each(['', ' \n', '# none', '{}', '\uFEFF', '\uFEFF{ }'])('%j has no rules', (text) => {
    expect(shown(text)).toEqual([]);
  });

  const expected = ['service exact:"a" write intentions=read', 'operator all read'];
  test.each([
    'service "a" {\n  policy = "write"\n  intentions = "read"\n}\noperator = "read"',
    'service "a" { policy = "write" intentions = "read" } operator = "read"',
    'service a { policy = "write", intentions = "read" }, "operator" = "read"',
    'service "a"\n{ policy =\n"write" intentions="read" }operator = "read"',
    'service = { a = { policy = "write", intentions = "read" } }\noperator = "read"',
    'service "a" { policy = "${"wri"}te" /* x */ intentions = ("read") } // y\noperator = "read"',
    '{"service": {"a": {"policy": "write", "intentions": "read"}}, "operator": "read"}',
    '{"service": [{"a": [{"policy": "write", "intentions": "read"}]}], "operator": {"policy": "read"}}',
  ])('%j', (text) => {
    expect(shown(text)).toEqual(expected);
  });

  test('JSON distinguishes a name from a policy by its value', () => {
    expect(shown('{"agent": {"policy": "read"}, "node": {"policy": {"policy": "write"}}}')).toEqual(
      ['agent all read', 'node exact:"policy" write'],
    );
    expect(
      shown(
        '{"partition": {"p": {"namespace": {"n": {"policy": "deny", "variables": ' +
          '{"path": {"v": {"capabilities": ["list"]}}}, "key": {"k": {"policy": "read"}}}}}}}',
      ),
    ).toEqual([
      'namespace exact:"n" deny [deny] partition=exact:"p"',
      'variable exact:"v" - [list] partition=exact:"p" namespace=exact:"n"',
      'key exact:"k" read partition=exact:"p" namespace=exact:"n"',
    ]);
  });

  test('rules have their place and text', () => {
    const text = 'acl = "read"\nnamespace "n" {\n  key "k" { policy = "read" }\n}\n';
    expect(parseRules(text).rules.map(({ position, text }) => [position, text])).toEqual([
      [{ offset: 0, line: 1, column: 1 }, 'acl = "read"'],
      [{ offset: 31, line: 3, column: 3 }, 'key "k" { policy = "read" }'],
    ]);
    const [long] = parseRules(`key "${'k'.repeat(500)}" { policy = "read" }`).rules;
    expect(long!.text).toHaveLength(400);
    expect(long!.text).toMatch(/^key "k+…$/);
  });
});

describe('faults', () => {
  test.each<[text: string, ...faults: string[]]>([
    ['servce "a" {}', '1:1 "servce" is not a resource; did you mean "service"?'],
    ['xyzzy = 1', '1:1 "xyzzy" is not a resource'],
    ['key "a" {}', '1:1 This rule needs a policy: "deny", "list", "read" or "write"'],
    ['key "a" { policy = "red" }', '1:20 Expected "deny", "list", "read" or "write", found "red"'],
    ['node "a" { policy = "list" }', '1:21 Expected "deny", "read" or "write", found "list"'],
    ['node "a" { policy = 1 }', '1:21 Expected "deny", "read" or "write", found a number'],
    ['node "a" { policy = null }', '1:21 Expected "deny", "read" or "write", found null'],
    ['acl = ["read"]', '1:7 Expected "deny", "read" or "write", found a list'],
    ['acl = read', '1:7 Only fixed values may stand here, not a reference to "read"'],
    ['acl = "${a}"', '1:10 Only fixed values may stand here, not a reference to "a"'],
    ['acl = "scale"', '1:7 Expected "deny", "read" or "write", found "scale"'],
    ['acl "a" { policy = "read" }', '1:1 "acl" is not a block: acl = "read"'],
    ['quota = "read"', '1:1 "quota" is a block: quota { policy = "read" }'],
    ['key = "read"', '1:1 "key" is a block: key "name" { policy = "read" }'],
    ['key_prefix { policy = "read" }', '1:1 "key_prefix" needs a name: key_prefix "name" { … }'],
    [
      'agent_prefix { policy = "read" }',
      '1:1 "agent_prefix" needs a name: agent_prefix "name" { … }',
    ],
    ['key "a" "b" { policy = "read" }', '1:9 "key" takes one name'],
    ['operator "a" { policy = "read" }', '1:10 "operator" takes no name'],
    [
      'key "a" { polcy = "read" policy = "read" }',
      '1:11 "key" takes no attribute "polcy"; did you mean "policy"?',
    ],
    [
      'key "a" { policy = "read" intentions = "read" }',
      '1:27 "key" takes no attribute "intentions"',
    ],
    ['key "a" { policy = "read" sentinel { } }', '1:27 "key" takes no block "sentinel"'],
    [
      'service "a" { policy = "read" intentions = "list" }',
      '1:44 Expected "deny", "read" or "write", found "list"',
    ],
    [
      'service "a" { intentions = "read" }',
      '1:1 This rule needs a policy: "deny", "read" or "write"',
    ],
    ['acl = "read"\nacl = "deny"', '2:1 "acl" is set already'],
    ['key "a" { policy = "read" policy = "deny" }', '1:27 "policy" is set already'],
    [
      'namespace "a" { capabilities = ["submit-jobs"] }',
      '1:33 "submit-jobs" is not a capability; did you mean "submit-job"?',
    ],
    [
      'namespace "a" { capabilities = [1, a] }',
      '1:33 Expected a capability, found a number',
      '1:36 Only fixed values may stand here, not a reference to "a"',
    ],
    [
      'namespace "a" { capabilities = "read" }',
      '1:32 Expected a list of capabilities, found a text',
    ],
    ['namespace "a" { operator = "read" }', '1:17 "operator" may not stand in a namespace'],
    ['namespace "a" { namespace "b" {} }', '1:17 "namespace" may not stand in a namespace'],
    ['namespace "a" { partition "b" {} }', '1:17 "partition" may not stand in a namespace'],
    [
      'namespace "a" { variable { } }',
      '1:17 "variable" is not a resource; did you mean "variables"?',
    ],
    ['partition "a" { keyring = "read" }', '1:17 "keyring" may not stand in a partition'],
    ['variables { }', '1:1 "variables" is not a resource'],
    ['namespace "a" { variables "b" { } }', '1:27 "variables" takes no name'],
    [
      'namespace "a" { variables { path "b" { } } }',
      '1:29 This path needs capabilities: capabilities = ["read"]',
    ],
    [
      'namespace "a" { variables { path { capabilities = ["read"] } } }',
      '1:29 "path" needs a name: path "name" { … }',
    ],
    [
      '{"acl": 1, "key": {"a": {"policy": "x"}}}',
      '1:9 Expected "deny", "read" or "write", found a number',
      '1:36 Expected "deny", "list", "read" or "write", found "x"',
    ],
    ['{"key": {"policy": "read"}}', '1:2 "key" needs a name: key "name" { … }'],
    ['{"acl": "read", "acl": "deny"}', '1:17 The key "acl" is given twice'],
    ['{"acl": }', '1:9 Expected a value, found "}"'],
    ['[]', '1:1 Expected the name of an attribute or block, found "["'],
    [
      'acl = = "read"\nkey {',
      '1:7 Expected a value, found "="',
      '2:5 This "{" is not closed by "}"',
    ],
  ])('%j', (text, ...expected) => {
    expect(faults(text)).toEqual(expected);
  });

  test('are reported together', () => {
    const text =
      'acl = "x"\nkey "a" { policy = "y" }\nnamespace "n" {\n  policy = "z"\n  foo = 1\n}';
    expect(faults(text).map((fault) => fault.split(' ')[0])).toEqual([
      '1:7',
      '2:20',
      '4:12',
      '5:3',
    ]);
  });

  test.each<[limit: Partial<RulesLimits>, text: string, ...faults: string[]]>([
    [{ rulesMax: 1 }, 'acl = "read"\nmesh = "read"', '2:1 A policy has 1 rules at most'],
    [{ textLengthMax: 5 }, 'acl = "read"', '1:1 The text is longer than 5 characters'],
    [{ textLengthMax: 5 }, '{"acl": "read"}', '1:1 The text is longer than 5 characters'],
    [{ nameLengthMax: 1 }, 'key "ab" { policy = "read" }', '1:5 A name has 1 characters at most'],
    [
      { faultsMax: 2 },
      'x = 1\ny = 1\nz = 1',
      '1:1 "x" is not a resource',
      '2:1 "y" is not a resource',
    ],
  ])('limit %j', (limit, text, ...expected) => {
    expect(faults(text, limit)).toEqual(expected);
  });
});

describe('properties', () => {
  const access: fc.Arbitrary<Access> = fc.constantFrom('deny', 'read', 'write');
  const word = fc.constantFrom('agent', 'event', 'key_prefix', 'node', 'service_prefix', 'session');
  const name = fc.string({ maxLength: 8 }).filter((text) => !/[$%]/.test(text));
  const rule = fc.record({ word, name, policy: access });

  test('HCL and JSON give the same rules', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), (rules) => {
        const hcl = rules.map(
          (one) => `${one.word} ${JSON.stringify(one.name)} { policy = "${one.policy}" }`,
        );
        const words = [...new Set(rules.map((one) => one.word))];
        const json = JSON.stringify(
          Object.fromEntries(
            words.map((word) => [
              word,
              rules
                .filter((one) => one.word === word)
                .map((one) => Object.fromEntries([[one.name, { policy: one.policy }]])),
            ]),
          ),
        );
        expect([...shown(json)].sort()).toEqual([...shown(hcl.join('\n'))].sort());
        expect(shown(hcl.join(' '))).toEqual(shown(hcl.join('\n')));
        expect(shown(json)).toHaveLength(rules.length);
      }),
    );
  });

  const pieces = [
    'acl',
    'key',
    'key_prefix',
    'namespace',
    'partition',
    'variables',
    'path',
    'policy',
    '"x"',
    '"read"',
    'capabilities',
    ' = ',
    ' { ',
    ' }\n',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\n',
    ' ',
    '${',
    '1',
    'intentions',
    'agent',
    '{"',
    '":{"',
    '"}',
    'service "a" { policy = "read" }\n',
  ];

  test('junk throws only `HclError`s', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
        try {
          parseRules(parts.join(''));
        } catch (error) {
          if (!(error instanceof HclError)) throw error;
          expect(error.faults.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 500 },
    );
  });
});
