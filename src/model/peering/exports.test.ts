import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  EntryExports,
  type ExportRule,
  PeerExports,
  serviceOfText,
  shownService,
  textOfService,
  traceExport,
} from './exports.ts';

const rule = (Name: string, Namespace: string, ...peers: string[]): ExportRule => ({
  Name,
  Namespace,
  Consumers: peers.map((Peer) => ({ Peer, Partition: '' })),
});
const web = { namespace: 'default', name: 'web' };

describe('the exports of an entry to "east"', () => {
  test.each<[string, ExportRule[], boolean, boolean]>([
    // The entry, and whether `web` is exported if it exists and if it does not.
    ['has no rules', [], false, false],
    ['names it', [rule('web', '', 'east')], true, true],
    ['names it in its namespace', [rule('web', 'default', 'east')], true, true],
    ['names it for "east" and others', [rule('web', '', 'west', 'east')], true, true],
    ['names it only for others', [rule('web', '', 'west')], false, false],
    ['names another service', [rule('api', '', 'east')], false, false],
    ['names it in another namespace', [rule('web', 'team', 'east')], false, false],
    ['has *', [rule('*', '', 'east')], true, false],
    ['has * in another namespace', [rule('*', 'team', 'east')], false, false],
    ['has * everywhere', [rule('*', '*', 'east')], true, false],
    ['has * for others', [rule('*', '*', 'west')], false, false],
    ['has * and names it', [rule('*', '*', 'east'), rule('web', '', 'east')], true, true],
  ])('%s', (_what, Services, withInstance, without) => {
    const exports = new PeerExports({ Services }, 'east');
    expect([exports.isExported(web, true), exports.isExported(web, false)]).toEqual([
      withInstance,
      without,
    ]);
  });

  test('a partition is not a peer, whatever its name', () => {
    const Consumers = [{ Partition: 'east' }, { Peer: '', Partition: 'west' }];
    const entry = { Services: [{ Name: 'web', Namespace: '', Consumers }] };
    expect(new PeerExports(entry, 'east').isExported(web, true)).toBe(false);
    expect(new PeerExports(entry, '').isExported(web, true)).toBe(false);
    expect(new EntryExports(entry).consumersOf(web, true)).toEqual({
      peers: [],
      partitions: ['east', 'west'],
    });
  });

  test('nothing, without an entry', () => {
    expect(new PeerExports(undefined, 'east').isExported(web, true)).toBe(false);
    expect(traceExport(undefined, web, { peer: 'east', isThere: true }).rules).toEqual([]);
  });
});

test('the trace tells the verdict of every rule', () => {
  const Services = [
    rule('web', 'team', 'east'),
    rule('api', '', 'east'),
    rule('web', '', 'west'),
    rule('*', '', 'east'),
  ];
  const trace = traceExport({ Services }, web, { peer: 'east', isThere: false });
  expect(trace.rules.map(({ verdict }) => verdict)).toEqual([
    'other-namespace',
    'other-service',
    'other-consumers',
    'exports',
  ]);
  expect(trace).toMatchObject({ isExported: false, isMissing: true });
});

test('the trace agrees with the exports', () => {
  const name = fc.constantFrom('web', 'api');
  const namespace = fc.constantFrom('default', 'team');
  const rules = fc.array(
    fc.record({
      Name: fc.oneof(name, fc.constant('*')),
      Namespace: fc.oneof(namespace, fc.constantFrom('*', '')),
      Consumers: fc.option(fc.array(fc.record({ Peer: fc.constantFrom('', 'east', 'west') }))),
    }),
  );
  const service = fc.record({ namespace, name });
  fc.assert(
    fc.property(rules, service, fc.boolean(), (Services, one, isThere) => {
      const entry = { Services };
      const trace = traceExport(entry, one, { peer: 'east', isThere });
      const exports = new PeerExports(entry, 'east');
      expect(trace.isExported).toBe(exports.isExported(one, isThere));
      expect(exports.named.has(textOfService(one))).toBe(exports.isExported(one, false));
      const { peers } = new EntryExports(entry).consumersOf(one, isThere);
      expect(peers.includes('east')).toBe(trace.isExported);
      expect(new EntryExports(entry).isOpen).toBe(
        Services.some(({ Name, Namespace }) => Name === '*' || Namespace === '*'),
      );
    }),
    { numRuns: 1000 },
  );
});

test('a service is written as a text and read back', () => {
  expect(textOfService(web)).toBe('default/web');
  expect(serviceOfText('default/web')).toEqual(web);
  expect([shownService(web), shownService({ namespace: 'team', name: 'web' })]).toEqual([
    'web',
    'team/web',
  ]);
});
