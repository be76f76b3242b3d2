import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isManagement, managementPolicyId } from './acl-token/acl-token.ts';
import { complete } from './complete.ts';
import { submissionBytes } from './job-submission/job-submission.ts';
import { limits } from './limits.ts';
import { isReadyNode, NodeSchema, withNodeEvent } from './node/node.ts';
import { presentNode } from './node/present.ts';
import { below, dottedOf, pointerOf, quote } from './path.ts';
import { isSame } from './same.ts';
import { escapesDirectory } from './text-rules.ts';

describe('paths', () => {
  test.each([
    [[], '', 'The body'],
    [['ID'], '/ID', 'ID'],
    [
      ['TaskGroups', 0, 'Tasks', 1, 'Resources', 'CPU'],
      '/TaskGroups/0/Tasks/1/Resources/CPU',
      'TaskGroups[0].Tasks[1].Resources.CPU',
    ],
    [['Meta', 'a b'], '/Meta/a b', 'Meta["a b"]'],
    [['Meta', 'a/b~c'], '/Meta/a~1b~0c', 'Meta["a/b~c"]'],
  ])('%j', (keys, pointer, dotted) => {
    const path = below(null, ...keys);
    expect([pointerOf(path), dottedOf(path)]).toEqual([pointer, dotted]);
  });

  test('quotes are cut', () => {
    expect(quote('a"b')).toBe('"a\\"b"');
    expect(quote('x'.repeat(10_000)).length).toBeLessThan(100);
  });
});

describe('equality', () => {
  test('is deep equality', () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    fc.assert(
      fc.property(value, value, (left, right) => {
        expect(isSame(left, structuredClone(left))).toBe(true);
        expect(isSame(left, right)).toBe(isDeepStrictEqual(left, right));
      }),
    );
  });

  test.each([
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
    [[1, 2], [2, 1], false],
    [{ a: null }, {}, false],
    [{}, [], false],
    [null, {}, false],
    [{ toString: 1 }, { valueOf: 1 }, false],
  ])('%j and %j', (left, right, expected) => {
    expect(isSame(left, right)).toBe(expected);
  });
});

test.each([
  ['local/x', false],
  ['a/../b', false],
  ['./a/./..', false],
  ['..', true],
  ['a/../../b', true],
  ['/etc/../..', true],
])('%s escapes: %s', (path, escapes) => {
  expect(escapesDirectory(path)).toBe(escapes);
});

describe('nodes', () => {
  const node = complete(NodeSchema, { ID: 'n', SecretHash: 'hash', Status: 'ready' });
  test.each([
    [{}, true],
    [{ Status: 'down' }, false],
    [{ Status: 'initializing' }, false],
    [{ Drain: true }, false],
    [{ SchedulingEligibility: 'ineligible' }, false],
  ] as const)('ready with %j: %s', (change, ready) => {
    expect(isReadyNode({ ...node, ...change })).toBe(ready);
  });

  test('the hash of the secret is never presented', () => {
    expect(JSON.stringify(presentNode(node))).not.toContain('hash');
    expect(presentNode(node)).toMatchObject({ ID: 'n', NodePool: 'default', Attributes: {} });
  });

  test('the newest events are kept', () => {
    const event = (Timestamp: number) => ({
      Message: '',
      Subsystem: '',
      Details: {},
      Timestamp,
      CreateIndex: 0,
    });
    let events: readonly ReturnType<typeof event>[] = [];
    for (let time = 1; time <= 12; time++)
      events = withNodeEvent(events, event(time)) as typeof events;
    expect(events.map((one) => one.Timestamp)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
});

test('a token manages by its policy', () => {
  expect(isManagement({ Policies: [{ ID: managementPolicyId }] })).toBe(true);
  expect(isManagement({ Policies: [{ ID: 'other' }] })).toBe(false);
});

test('a submission is measured in bytes of all its texts', () => {
  expect(submissionBytes({ Source: 'é', Variables: 'ab', VariableFlags: { k: 'vv' } })).toBe(7);
});

test('limits are positive, or 0 for no limit', () => {
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'number')
      expect(value, path).toBeGreaterThanOrEqual(
        path.endsWith('LoopbackMax') ? 0 : Number.MIN_VALUE,
      );
    else for (const [key, inner] of Object.entries(value as object)) walk(inner, `${path}.${key}`);
  };
  walk(limits, 'limits');
});
