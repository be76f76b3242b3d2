import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOfEntry } from '../config-entry/config-entry.ts';
import { entryOf, faultsIn, viewOf } from '../config-entry/entry-view.test-helper.ts';
import { checkGraph } from '../config-entry/graph.ts';
import { compileChain } from './compile.ts';
import { type ChainStep, type DiscoveryChain, noOverrides } from './discovery-chain.ts';

type Body = Readonly<Record<string, unknown>>;

// Few names, so that entries often name each other.
const name = fc.constantFrom('a', 'b', 'c', 'd');
const subset = fc.constantFrom('', '', 'v1', 'v2');
const datacenter = fc.constantFrom('dc1', 'dc2');
const peer = fc.constantFrom('east', 'west');
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined, freq: 2 });

const defaults = fc.record({
  Kind: fc.constant('service-defaults'),
  Name: name,
  Protocol: fc.constantFrom('http', 'http', 'http', 'tcp', ''),
  ExternalSNI: fc.constantFrom('', '', '', 'x.example'),
});
const router = fc.record({
  Kind: fc.constant('service-router'),
  Name: name,
  Routes: fc.array(
    fc.record({
      Match: fc.constant({ HTTP: { PathPrefix: '/x' } }),
      Destination: fc.record({ Service: maybe(name), ServiceSubset: subset }),
    }),
    { maxLength: 3 },
  ),
});
const splitter = fc
  .record({
    Name: name,
    Parts: fc.array(fc.record({ Service: maybe(name), ServiceSubset: subset }), {
      minLength: 1,
      maxLength: 4,
    }),
    cuts: fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 3, maxLength: 3 }),
  })
  .map(({ Name, Parts, cuts }): Body => {
    const edges = [0, ...cuts.slice(0, Parts.length - 1).sort((x, y) => x - y), 10_000];
    const Splits = Parts.map((part, index) => ({
      ...part,
      Weight: (edges[index + 1]! - edges[index]!) / 100,
    }));
    return { Kind: 'service-splitter', Name, Splits };
  });
const target = fc.oneof(
  fc.record({ Service: name, ServiceSubset: subset, Datacenter: maybe(datacenter) }),
  fc.record({ Service: maybe(name), Peer: peer }),
);
const resolver = fc.record({
  Kind: fc.constant('service-resolver'),
  Name: name,
  Subsets: fc.constantFrom({}, { v1: {} }, { v1: {}, v2: {} }),
  DefaultSubset: fc.constantFrom('', '', 'v1'),
  Redirect: maybe(target),
  Failover: maybe(
    fc.oneof(
      fc.record({ '*': fc.record({ Targets: fc.array(target, { minLength: 1, maxLength: 3 }) }) }),
      fc.record({
        '*': fc.record({ Datacenters: fc.array(datacenter, { minLength: 1, maxLength: 2 }) }),
      }),
    ),
  ),
});
const proxy = fc.constant({
  Kind: 'proxy-defaults',
  Name: 'global',
  Config: { protocol: 'http' },
});

/** Entries that are valid by themselves; together they may have any fault. */
const entries = fc
  .array(fc.oneof({ weight: 2, arbitrary: defaults }, router, splitter, resolver, proxy), {
    maxLength: 12,
  })
  .map((bodies) =>
    bodies
      .filter((body) => faultsIn(body as Body).length === 0)
      .map((body) => entryOf(body as Body)),
  );

const request = fc.record({
  service: name.map((one) => ({ partition: 'default', namespace: 'default', name: one })),
  datacenter,
  overrides: fc.constantFrom(
    noOverrides,
    { ...noOverrides, OverrideProtocol: 'tcp' },
    { ...noOverrides, OverrideConnectTimeout: 1e9 },
  ),
});

/** Checks that the chain is complete and consistent. */
function expectWhole(chain: DiscoveryChain, names: ReadonlySet<string>): void {
  const open = [chain.StartNode];
  const [nodes, targets] = [new Set<string>(), new Set<string>()];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (nodes.has(id)) continue;
    nodes.add(id);
    const node = chain.Nodes.get(id)!;
    expect(node, id).toBeDefined();
    for (const { NextNode } of node.Routes ?? node.Splits ?? []) open.push(NextNode);
    if (node.Splits) {
      const sum = node.Splits.reduce((total, { Weight }) => total + Math.round(Weight * 100), 0);
      expect(sum).toBe(100_00);
      expect(node.Splits.map(({ NextNode }) => chain.Nodes.get(NextNode)?.Type)).toEqual(
        node.Splits.map(() => 'resolver'),
      );
    }
    if (node.Resolver) {
      const { Target, Failover } = node.Resolver;
      for (const one of [Target, ...(Failover?.Targets ?? [])]) targets.add(one);
      expect(Failover?.Targets ?? []).not.toContain(Target);
    }
  }
  expect([...nodes].sort()).toEqual([...chain.Nodes.keys()].sort());
  expect([...targets].sort()).toEqual([...chain.Targets.keys()].sort());
  for (const { Service } of chain.Targets.values()) expect(names).toContain(Service);
}

describe('a chain of random entries', () => {
  test('is complete, or is refused in a sentence, and is the same when made again', () => {
    let [chains, refusals] = [0, 0];
    fc.assert(
      fc.property(entries, request, (all, asked) => {
        const steps: ChainStep[] = [];
        const outcome = compileChain(viewOf(all), asked, steps);
        // The order in which entries were written makes no difference.
        expect(compileChain(viewOf(all), asked)).toEqual(outcome);
        expect(steps.length).toBeGreaterThan(0);
        if (outcome.chain === undefined) {
          refusals++;
          expect(outcome.refusal).toMatch(/^[a-z].*[^.]$/);
          return;
        }
        chains++;
        const named = new Set<string>([asked.service.name]);
        for (const text of JSON.stringify(all).matchAll(/"Service":"([^"]+)"/g))
          named.add(text[1]!);
        expectWhole(outcome.chain, named);
      }),
      { numRuns: 600 },
    );
    // The test would say little if either were rare.
    expect(Math.min(chains, refusals)).toBeGreaterThan(50);
  });

  test('can be made for all services if refused changes are left out', () => {
    fc.assert(
      fc.property(entries, fc.array(fc.nat(), { maxLength: 4 }), (all, removed) => {
        const kept = new Map<string, (typeof all)[number]>();
        const keyText = (entry: (typeof all)[number]) => `${entry.Kind} ${entry.Name}`;
        const attempt = (change: () => void, entry: (typeof all)[number]) => {
          const before = new Map(kept);
          change();
          const { get } = viewOf(before.values());
          const view = { ...viewOf(kept.values()), before: get };
          if (checkGraph(view, [keyOfEntry(entry)]).length === 0) return;
          kept.clear();
          for (const [key, one] of before) kept.set(key, one);
        };
        for (const entry of all) attempt(() => kept.set(keyText(entry), entry), entry);
        for (const which of removed) {
          const entry = [...kept.values()][which % Math.max(kept.size, 1)];
          if (entry) attempt(() => kept.delete(keyText(entry)), entry);
        }
        for (const one of ['a', 'b', 'c', 'd']) {
          const service = { partition: 'default', namespace: 'default', name: one };
          const asked = { service, datacenter: 'dc1', overrides: noOverrides };
          expect(compileChain(viewOf(kept.values()), asked).refusal).toBeUndefined();
        }
      }),
      { numRuns: 300 },
    );
  });
});
