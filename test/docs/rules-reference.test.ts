/** The reference of the rules language against the code: nothing is missing, nothing is made up. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { explain } from '../../src/acl/explain.ts';
import { parsePolicyTest, policyOf, runPolicyTest, subjectOf } from '../../src/acl/policy-test.ts';
import {
  type CapabilityTable,
  hostVolumeCapabilities,
  namespaceCapabilities,
  nodePoolCapabilities,
  variableCapabilities,
} from '../../src/language/rules/capabilities.ts';
import { parseRules } from '../../src/language/rules/parse.ts';
import { namedForms, scalarForms } from '../../src/language/rules/resources.ts';
import { permissionOf, splitPermission } from '../../src/model/permission/permission-words.ts';
import { blocksOf } from './blocks.ts';
import { codesIn, type Row, tableOf } from './tables.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const markdown = readFileSync(join(checkout, 'docs/reference/rules.md'), 'utf8');
const blocks = blocksOf(markdown);
const about = 'What it is about';

const sorted = (words: readonly string[]): readonly string[] => [...words].sort();
const policiesAndPlaces = (row: Row) => ({
  policies: sorted(codesIn(row.Policies!)),
  places: codesIn(row['May stand']!),
});

describe('every resource is told', () => {
  test('without a name', () => {
    const rows = tableOf(markdown, ['Resource', 'Written', 'Policies', 'May stand', about]);
    const told = rows.map((row) => [codesIn(row.Resource!).join(), policiesAndPlaces(row)]);
    const known = [...scalarForms].map(([word, { policies, places }]) => [
      word,
      { policies: sorted(policies), places },
    ]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(known));
    for (const row of rows) {
      const written = codesIn(row.Written!);
      const rules = written.flatMap((text) => parseRules(text).rules);
      expect(rules.map(({ resource }) => resource)).toEqual(
        written.map(() => row.Resource!.slice(1, -1)),
      );
    }
  });

  test('with a name', () => {
    const rows = tableOf(markdown, ['Resource', 'Policies', 'May stand', about]);
    const told = rows.flatMap((row) =>
      codesIn(row.Resource!).map((word) => [word, policiesAndPlaces(row)]),
    );
    const known = [...namedForms].map(([word, { policies, places }]) => [
      word,
      { policies: sorted(policies), places },
    ]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(known));
  });

  test('in an example', () => {
    const rules = blocks.flatMap(({ language, text }) =>
      language === 'hcl' && !isPolicyTest(text) ? parseRules(text).rules : [],
    );
    const used = new Set(rules.map(({ resource }) => resource));
    const all = [...scalarForms.values(), ...namedForms.values()].map(({ resource }) => resource);
    const missing = [...new Set([...all, 'variable' as const])].filter((one) => !used.has(one));
    // Told in a table, and not worth an example each.
    expect(missing).toEqual(['keyring', 'peering', 'quota']);
  });
});

describe('every capability is told, with the policies that stand for it', () => {
  const wordsOf = (row: Row, words: readonly string[]) =>
    words.filter((word) => row[`\`${word}\``]);
  const known = ({ known, policies }: CapabilityTable, words: readonly string[]) =>
    known.map((one) => [one, words.filter((word) => policies[word]?.includes(one))]);

  test('of namespaces', () => {
    const words = ['read', 'scale', 'write'];
    const headings = ['Capability', ...words.map((word) => `\`${word}\``), 'What it allows'];
    const told = tableOf(markdown, headings).map((row) => [
      codesIn(row.Capability!).join(),
      wordsOf(row, words),
    ]);
    expect(told).toEqual(known(namespaceCapabilities, words));
  });

  test('of node pools, host volumes and variables', () => {
    const words = ['read', 'write'];
    const headings = [
      'Resource',
      'Capability',
      ...words.map((word) => `\`${word}\``),
      'What it allows',
    ];
    const rows = tableOf(markdown, headings);
    const told = (resource: string) =>
      rows
        .filter((row) => codesIn(row.Resource!).join() === resource)
        .map((row) => [codesIn(row.Capability!).join(), wordsOf(row, words)]);
    expect(told('node_pool')).toEqual(known(nodePoolCapabilities, words));
    expect(told('host_volume')).toEqual(known(hostVolumeCapabilities, words));
    expect(told('variable')).toEqual(known(variableCapabilities, words));
  });
});

test('every word of permissions is told', () => {
  const listed = (resource: string): readonly string[] => {
    try {
      permissionOf({ resource, access: '?', name: '' });
    } catch (error) {
      return /there are (.*)$/.exec((error as Error).message)![1]!.split(', ');
    }
    throw new Error('there is an access "?"');
  };
  const rows = tableOf(markdown, ['Resource', 'Access', 'Name']);
  const told = rows.map((row) => codesIn(row.Resource!).join());
  expect(['management', ...told]).toEqual(listed('?'));
  for (const row of rows) {
    const [resource] = codesIn(row.Resource!);
    if (resource === 'namespace') continue;
    expect([resource, sorted(codesIn(row.Access!))]).toEqual([resource, sorted(listed(resource!))]);
  }
});

const claim = /(allows|denies) (\S+?)(?: (?!in )([^\s;]+))?(?: in (\S+?))?(?=;|$)/g;

/** What the comments of an example say. */
function claimsIn(text: string) {
  const comments = text.split('\n').flatMap((line) => /# (.*)$/.exec(line)?.[1] ?? []);
  return comments.flatMap((comment) => {
    const claims = [...comment.matchAll(claim)];
    // Nothing of a comment may be passed over.
    expect(claims.map(([words]) => words).join('; ')).toBe(comment);
    return claims.map(([words, verb, permission, name = '', namespace = 'default']) => ({
      words,
      allowed: verb === 'allows',
      permission: permissionOf({ ...splitPermission(permission!), name }, { namespace }),
    }));
  });
}

const isPolicyTest = (text: string): boolean => /^allow /m.test(text);

describe('examples are true', () => {
  test.each(blocks)('line $line', ({ language, text }) => {
    expect(['hcl', 'json']).toContain(language);
    if (isPolicyTest(text)) {
      const policyTest = parsePolicyTest(text);
      const results = runPolicyTest(policyTest, new Map([['example', policyTest.rules!]]));
      expect(results.map(({ met }) => met)).toEqual([true, true, true]);
      return;
    }
    const subject = subjectOf([policyOf('example', text)], 'deny');
    const claims = claimsIn(text);
    expect(claims.length > 0 || language === 'json').toBe(true);
    for (const { words, allowed, permission } of claims) {
      expect([words, explain(subject, permission).Allowed]).toEqual([words, allowed]);
    }
  });
});
