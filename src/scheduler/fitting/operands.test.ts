import { describe, expect, test } from 'vitest';
import { makeNode } from '../cluster.test-helper.ts';
import { compileOperand } from './operands.ts';

const node = makeNode('n1', {
  Datacenter: 'dc2',
  NodeClass: 'big',
  NodePool: 'gpu',
  Attributes: {
    arch: 'x64',
    cores: '10',
    load: '0.75',
    version: '1.10.3',
    list: 'a, b,c',
    empty: '',
  },
  Meta: { rack: 'r1' },
});

const passes = (LTarget: string, Operand: string, RTarget: string): boolean =>
  compileOperand({ LTarget, Operand, RTarget })(node);

describe('operands', () => {
  test.each<[string, string, string, boolean]>([
    // Targets.
    ['${node.unique.id}', '=', 'n1', true],
    ['${node.unique.name}', '=', 'name-n1', true],
    ['${node.datacenter}', '=', 'dc2', true],
    ['${node.class}', '=', 'big', true],
    ['${node.pool}', '=', 'gpu', true],
    ['${attr.arch}', '=', 'x64', true],
    ['${meta.rack}', '=', 'r1', true],
    ['x64', '=', '${attr.arch}', true],
    ['${node.region}', 'is_set', '', false],
    ['${attr.constructor}', 'is_set', '', false],
    // Equality, in all its spellings.
    ['${attr.arch}', '==', 'x64', true],
    ['${attr.arch}', 'is', 'arm64', false],
    ['${attr.missing}', '=', 'x', false],
    ['${attr.missing}', '=', '${attr.missing2}', false],
    ['${attr.arch}', '!=', 'arm64', true],
    ['${attr.arch}', 'not', 'x64', false],
    ['${attr.missing}', '!=', 'x', true],
    // Order: whole numbers, then decimals, then text.
    ['${attr.cores}', '>', '9', true],
    ['${attr.cores}', '<', '9', false],
    ['${attr.cores}', '>=', '10', true],
    ['${attr.cores}', '<=', '+10', true],
    ['${attr.load}', '<', '10', true],
    ['${attr.load}', '>', '7e-1', true],
    ['${attr.arch}', '>', 'x32', true],
    ['${attr.cores}', '>', 'a', false],
    ['9007199254740993', '>', '9007199254740992', true],
    ['${attr.missing}', '<', '9', false],
    // Patterns, unanchored.
    ['${attr.arch}', 'regexp', '6', true],
    ['${attr.arch}', 'regexp', '^6', false],
    ['${attr.arch}', 'regexp', '(', false],
    ['${attr.missing}', 'regexp', '.*', false],
    // Sets.
    ['${attr.list}', 'set_contains', 'c,a', true],
    ['${attr.list}', 'set_contains_all', 'a,d', false],
    ['${attr.list}', 'set_contains_any', 'd, b', true],
    ['${attr.list}', 'set_contains_any', 'd', false],
    ['${attr.missing}', 'set_contains', 'a', false],
    // Presence.
    ['${attr.empty}', 'is_set', '', true],
    ['${attr.missing}', 'is_set', '', false],
    ['${attr.missing}', 'is_not_set', '', true],
    ['${attr.empty}', 'is_not_set', '', false],
    // Unknown operands and references.
    ['${attr.arch}', 'resembles', 'x64', false],
    ['${attr.arch}', 'toString', 'x64', false],
  ])('%s %s %s: %s', (left, operand, right, expected) => {
    expect(passes(left, operand, right)).toBe(expected);
  });
});

describe('versions', () => {
  test.each<[string, string, string, boolean]>([
    ['version', '1.10.3', '>= 1.9', true],
    ['version', '1.10.3', '> 1.9, < 1.10', false],
    ['version', '1.10.3', '1.10.3', true],
    ['version', '1.10', '= 1.10.0', true],
    ['version', 'v1.10.3+build', '= 1.10.3', true],
    ['version', '1.10.3', '!= 1.10.3', false],
    ['version', '1.2.9', '~> 1.2.3', true],
    ['version', '1.3.0', '~> 1.2.3', false],
    ['version', '1.9', '~> 1.2', true],
    ['version', '2.0', '~> 1.2', false],
    ['version', '1.2.2', '~> 1.2.3', false],
    ['version', '1.1.0-beta', '> 1.0', false],
    ['version', '1.1.0-beta.2', '>= 1.1.0-beta.1', true],
    ['version', '1.2.0-beta', '> 1.1.0-beta', false],
    ['version', '1.1.0', '> 1.1.0-beta', true],
    ['version', '1.1.0beta1', '= 1.1.0-beta1', true],
    ['version', 'many', '> 1', false],
    ['version', '1.0', '> many', false],
    ['semver', '1.1.0-beta', '> 1.0.0', true],
    ['semver', '1.1.0-beta', '< 1.1.0', true],
    ['semver', '1.1.0-beta.11', '> 1.1.0-beta.2', true],
    ['semver', '1.1.0-beta', '> 1.1.0-beta.2', false],
    ['semver', '1.1.0-beta', '> 1.1.0-2', true],
    ['semver', '1.1.0beta', '> 1.0.0', false],
    ['semver', '1.2.0', '~> 1.2', false],
  ])('%s: %s %s is %s', (operand, version, constraint, expected) => {
    expect(passes(version, operand, constraint)).toBe(expected);
  });
});
