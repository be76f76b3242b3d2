import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConfigEntry } from './config-entry.ts';
import { arrangedEntry, completeEntry, decodeEntry } from './entry.ts';
import { entryFaults } from './entry-faults.ts';
import { precedenceOf } from './intention.ts';
import { type Caller, decideIntention } from './intention-decision.ts';
import { type HttpRequest, permissionFits } from './permission-match.ts';
import type { ServiceIntentions } from './service-intentions.ts';

const scope = { namespace: 'default', partition: 'default' };

function intentions(
  Name: string,
  Sources: readonly object[],
  more: object = {},
): ServiceIntentions {
  const given = decodeEntry({ Kind: 'service-intentions', Name, Sources, ...more });
  const entry: ConfigEntry = completeEntry(given, scope);
  expect(entryFaults(given, entry)).toEqual([]);
  return arrangedEntry(entry) as ServiceIntentions;
}

const api: Caller = { partition: 'default', namespace: 'default', name: 'api', peer: '' };
const decide = (
  entries: readonly ServiceIntentions[],
  more: { caller?: Caller; request?: HttpRequest; defaultAllows?: boolean } = {},
) => decideIntention({ caller: api, entries, request: undefined, defaultAllows: false, ...more });

describe('precedence', () => {
  test.each([
    ['a', 'default', 'web', 9],
    ['*', 'default', 'web', 8],
    ['*', '*', 'web', 7],
    ['a', 'default', '*', 6],
    ['*', 'default', '*', 5],
    ['*', '*', '*', 4],
  ])('of %s in %s to %s', (name, namespace, destination, precedence) => {
    expect(precedenceOf({ name, namespace }, destination)).toBe(precedence);
  });

  test('sources are sorted by precedence, whatever order they were given in', () => {
    const sources = ['z', '*', 'a'].map((Name) => ({ Name, Action: 'allow' }));
    const all = [...sources, { Name: '*', Namespace: '*', Action: 'deny' }];
    const names = (given: readonly object[]) =>
      intentions('web', given).Sources!.map(({ Name, Precedence }) => `${Name} ${Precedence}`);
    expect(names(all)).toEqual(['a 9', 'z 9', '* 8', '* 7']);
    expect(names([...all].reverse())).toEqual(names(all));
  });
});

/** Looks for each form of source in turn, with the destination's own entry before the others. */
function slowly(caller: Caller, entries: readonly ServiceIntentions[], defaultAllows: boolean) {
  for (const destination of ['web', '*']) {
    const sources = entries.find(({ Name }) => Name === destination)?.Sources ?? [];
    for (const [namespace, name] of [
      [caller.namespace, caller.name],
      [caller.namespace, '*'],
      ['*', '*'],
    ]) {
      const found = sources.find(
        (one) =>
          one.Name === name &&
          one.Namespace === namespace &&
          one.Peer === caller.peer &&
          (one.Peer !== '' || one.Partition === caller.partition),
      );
      if (found !== undefined) return found.Action === 'allow';
    }
  }
  return defaultAllows;
}

test('looking for each form of an intention in turn finds the same decision', () => {
  const source = fc.record({
    Name: fc.constantFrom('api', 'db', '*'),
    Namespace: fc.constantFrom('default', 'shop', '*'),
    Peer: fc.constantFrom('', '', 'east'),
    Action: fc.constantFrom('allow', 'deny'),
  });
  const sources = fc
    .uniqueArray(source, { selector: (one) => `${one.Name}/${one.Namespace}/${one.Peer}` })
    .map((all) => all.filter(({ Name, Namespace }) => Namespace !== '*' || Name === '*'));
  const caller = fc.record({
    partition: fc.constantFrom('default', 'other'),
    namespace: fc.constantFrom('default', 'shop'),
    name: fc.constantFrom('api', 'db', 'job'),
    peer: fc.constantFrom('', '', 'east'),
  });
  fc.assert(
    fc.property(sources, sources, caller, fc.boolean(), (own, every, from, defaultAllows) => {
      const entries = [
        ...(own.length > 0 ? [intentions('web', own)] : []),
        ...(every.length > 0 ? [intentions('*', every)] : []),
      ];
      const decision = decide(entries, { caller: from, defaultAllows });
      expect(decision.allowed).toBe(slowly(from, entries, defaultAllows));
      expect(decision.reason).toContain(decision.allowed ? 'allows' : 'denies');
    }),
    { numRuns: 2000 },
  );
});

describe('permissions', () => {
  const permissions = [
    { Action: 'deny', HTTP: { PathPrefix: '/admin' } },
    { Action: 'allow', HTTP: { PathPrefix: '/', Methods: ['get'] } },
  ];
  const web = intentions('web', [{ Name: 'api', Permissions: permissions }]);
  const request = (path: string, method = 'GET', headers: Record<string, string> = {}) => ({
    path,
    method,
    headers: new Map(Object.entries(headers)),
  });

  test.each([
    ['/a', 'GET', true, 1],
    ['/admin/a', 'GET', false, 0],
    ['/a', 'POST', false, undefined],
  ])('%s %s', (path, method, allowed, permission) => {
    expect(decide([web], { request: request(path, method) })).toMatchObject({
      allowed,
      permission,
    });
  });

  test('permissions: without a match the default decides; without a request they allow nothing', () => {
    const post = request('/a', 'POST');
    expect(decide([web], { request: post, defaultAllows: true }).allowed).toBe(true);
    expect(decide([web], { defaultAllows: true }).allowed).toBe(false);
  });

  test.each<[string, object, Record<string, string>, boolean]>([
    ['present', { Present: true }, { 'x-a': '' }, true],
    ['not present', { Present: true }, {}, false],
    ['absent, as required', { Present: true, Invert: true }, {}, true],
    ['exact', { Exact: 'Ab' }, { 'x-a': 'Ab' }, true],
    ['equal except for capitals', { Exact: 'Ab' }, { 'x-a': 'ab' }, false],
    ['equal without regard to capitals', { Exact: 'Ab', IgnoreCase: true }, { 'x-a': 'aB' }, true],
    ['prefix', { Prefix: 'a' }, { 'x-a': 'ab' }, true],
    ['suffix', { Suffix: 'b' }, { 'x-a': 'ab' }, true],
    ['contained', { Contains: 'b' }, { 'x-a': 'abc' }, true],
    ['a pattern as a whole', { Regex: 'a.' }, { 'x-a': 'ab' }, true],
    ['a pattern in part', { Regex: 'a' }, { 'x-a': 'ab' }, false],
    ['inverted', { Exact: 'a', Invert: true }, { 'x-a': 'a' }, false],
  ])('a header that is %s', (_, rule, headers, expected) => {
    const HTTP = { Header: [{ Name: 'X-A', ...rule }] };
    const entry = intentions('web', [{ Name: 'api', Permissions: [{ Action: 'allow', HTTP }] }]);
    const [permission] = entry.Sources![0]!.Permissions!;
    expect(permissionFits(permission!, request('/', 'GET', headers))).toBe(expected);
  });

  test.each([
    [{ PathRegex: '/v[0-9]+' }, '/v12', true],
    [{ PathRegex: '/v[0-9]+' }, '/v12/x', false],
    [{ PathExact: '/a' }, '/a/', false],
  ])('%j %s', (HTTP, path, expected) => {
    const entry = intentions('web', [{ Name: 'api', Permissions: [{ Action: 'allow', HTTP }] }]);
    const [permission] = entry.Sources![0]!.Permissions!;
    expect(permissionFits(permission!, request(path))).toBe(expected);
  });
});
