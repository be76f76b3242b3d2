/**
 * Two clusters that change, and a link that is slow and gets cut. In the end each cluster has what
 * the other exports, computed from scratch; and until then no reader sees less than the old and new
 * exports have in common.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { configEntries, importedInstances, serviceRegistrations } from '../../../state/tables.ts';
import { Cluster, rule, TestStream } from './clusters.test-helper.ts';

const names = ['api', 'db', 'web'];
const namespaces = ['default', 'team'];
const ids = ['1', '2', '3', '4', '5', '6'];

const at = { cluster: fc.constantFrom('a', 'b') };
const instance = {
  ...at,
  namespace: fc.constantFrom(...namespaces),
  name: fc.constantFrom(...names),
  id: fc.constantFrom(...ids),
};
const ruleOf = fc.record({
  Name: fc.constantFrom(...names, '*'),
  Namespace: fc.constantFrom(...namespaces, '*'),
  Peer: fc.constantFrom('a', 'b', 'elsewhere'),
});
const step = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      ...instance,
      port: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('remove' as const), ...instance }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('export' as const),
      ...at,
      rules: fc.option(fc.array(ruleOf, { maxLength: 3 }), { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('protocol' as const),
      ...at,
      name: fc.constantFrom(...names),
      protocol: fc.constantFrom('http', 'grpc'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('route' as const),
      ...at,
      kind: fc.constantFrom('service-router' as const, 'service-resolver' as const),
      // Not every name of an entry is a valid service name.
      name: fc.constantFrom(...names, 'no service'),
      isThere: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('connect' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(40) }) },
);

/** The exports of a cluster to the other one, computed without the code under test. */
function exportsOf({ state }: Cluster, peer: string) {
  const snapshot = state.read();
  const entries = snapshot.table(configEntries);
  const entry = entries.get('default', 'default', 'exported-services', 'default') as unknown as
    | { Services: { Name: string; Namespace: string; Consumers: { Peer: string }[] }[] }
    | undefined;
  const rules = (entry?.Services ?? []).filter(({ Consumers }) => Consumers[0]!.Peer === peer);
  const rows = [...snapshot.table(serviceRegistrations).scan()];
  const covered = rows.filter((row) =>
    rules.some(
      ({ Name, Namespace }) =>
        (Name === '*' || Name === row.ServiceName) &&
        (Namespace === '*' || Namespace === row.Namespace),
    ),
  );
  const named = rules.filter(({ Name, Namespace }) => Name !== '*' && Namespace !== '*');
  const routed = [...entries.scan()].filter(
    ({ Kind, Name: name }) =>
      Kind.startsWith('service-r') &&
      names.includes(name) &&
      rules.some(
        ({ Name, Namespace }) => ['*', name].includes(Name) && ['*', 'default'].includes(Namespace),
      ),
  );
  const services = new Set([
    ...covered.map(({ Namespace, ServiceName }) => `${Namespace}/${ServiceName}`),
    ...[...named, ...routed].map(({ Namespace, Name }) => `${Namespace}/${Name}`),
  ]);
  const protocolOf = (service: string) => {
    const [namespace, name] = service.split('/');
    const defaults = entries.get('default', namespace!, 'service-defaults', name!);
    return (defaults as unknown as { Protocol: string } | undefined)?.Protocol ?? 'tcp';
  };
  return {
    services: [...services].sort().map((service) => `${service} ${protocolOf(service)}`),
    instances: covered.map(
      ({ Namespace, ServiceName, ID, Port }) => `${Namespace}/${ServiceName}/${ID}:${Port}`,
    ),
  };
}

const importsOf = (cluster: Cluster, peer: string) => ({
  services: cluster.servicesFrom(peer),
  instances: cluster
    .importedFrom(peer)
    .map(({ Namespace, ServiceName, ID, Port }) => `${Namespace}/${ServiceName}/${ID}:${Port}`),
});

const small = {
  window: 2,
  instancesPerChangeMax: 4,
  changedInstancesMax: 3,
  rowsPerTransactionMax: 2,
};

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Change = Exclude<Step, { readonly do: 'cut' | 'connect' | 'wait' }>;

function change(cluster: Cluster, one: Change): void {
  if (one.do === 'register') void cluster.register(one);
  else if (one.do === 'remove') void cluster.remove(one);
  else if (one.do === 'protocol') void cluster.protocol(one.name, one.protocol);
  else if (one.do === 'route') void cluster.route(one.kind, one.name, one.isThere);
  else {
    const rules = one.rules?.map(({ Name, Peer, Namespace }) => rule(Name, Peer, Namespace));
    void cluster.export(rules);
  }
}

test('after the faults end, each cluster sees the exports of the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.array(step, { maxLength: 100, size: 'max' }),
      async (seed, steps) => {
        const world = new SimulatedWorld(seed);
        const clusters = {
          a: await Cluster.open(world, small),
          b: await Cluster.open(world, small),
        };
        await Promise.all([clusters.a.peer('b'), clusters.b.peer('a'), world.advance(0)]);
        const faults: string[] = [];
        let stream: TestStream | undefined;
        const cut = () => {
          faults.push(...(stream?.faults ?? []));
          stream?.cut();
          stream = undefined;
        };
        const connect = () => {
          cut();
          stream = new TestStream(world, [clusters.a, clusters.b], () => world.random.below(20));
        };
        void clusters.a.export([rule('*', 'b', '*')]);
        connect();
        for (const one of steps) {
          const cluster = 'cluster' in one ? clusters[one.cluster as 'a' | 'b'] : clusters.a;
          if (one.do === 'cut') cut();
          else if (one.do === 'connect') connect();
          else if (one.do === 'wait') await world.advance(one.ms);
          else change(cluster, one);
        }
        // An open stream stays, to show whether anything was missed on it.
        if (stream === undefined) connect();
        await world.advance(60_000);
        expect(faults.concat(stream!.faults)).toEqual([]);
        expect(importsOf(clusters.b, 'a')).toEqual(exportsOf(clusters.a, 'b'));
        expect(importsOf(clusters.a, 'b')).toEqual(exportsOf(clusters.b, 'a'));
        for (const [here, there] of [
          ['a', 'b'],
          ['b', 'a'],
        ] as const) {
          const names = (texts: readonly string[]) =>
            texts.map((text) => text.split(' ')[0]!.replace(/^default\//, ''));
          const wanted = names(exportsOf(clusters[there], here).services);
          const at = { partition: 'default', name: there };
          expect(clusters[here].exchange.status(at).imported).toEqual(wanted);
          const sent = clusters[there].exchange.status({ partition: 'default', name: here });
          expect(sent.exported).toEqual(wanted);
        }
        cut();
        for (const [here, there] of [
          ['a', 'b'],
          ['b', 'a'],
        ] as const) {
          const forgotten = clusters[here].exchange.forget({ partition: 'default', name: there });
          await Promise.all([forgotten, world.advance(10_000)]);
          expect(importsOf(clusters[here], there)).toEqual({ services: [], instances: [] });
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('while everything is told again, a reader always sees services that were and will be there', async () => {
  const change = fc.constantFrom('kept', 'gone', 'new');
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.array(fc.tuple(fc.constantFrom(...names), change), { minLength: 1, maxLength: 40 }),
      async (seed, instances) => {
        const world = new SimulatedWorld(seed);
        const [a, b] = [await Cluster.open(world, small), await Cluster.open(world, small)];
        const settle = (work: readonly Promise<unknown>[]) =>
          Promise.all([...work, world.advance(0)]);
        await settle([a.peer('b'), b.peer('a'), a.export([rule('*', 'b')])]);
        const all = instances.map(([name, what], n) => ({ name, id: `${n}`, what }));
        await settle(all.filter(({ what }) => what !== 'new').map((one) => a.register(one)));
        const delayMs = () => world.random.below(20);
        const first = new TestStream(world, [a, b], delayMs);
        await world.advance(10_000);
        first.cut();
        const before = countsOf(b);
        await settle([
          ...all.filter(({ what }) => what === 'new').map((one) => a.register(one)),
          ...all.filter(({ what }) => what === 'gone').map((one) => a.remove(one)),
        ]);
        const after = new Map(names.map((name) => [name, 0]));
        for (const { name, what } of all) {
          if (what !== 'gone') after.set(name, after.get(name)! + 1);
        }
        const seen: Map<string, number>[] = [];
        const stop = b.state.onCommit(() => seen.push(countsOf(b)));
        new TestStream(world, [a, b], delayMs);
        await world.advance(10_000);
        stop();
        expect(countsOf(b)).toEqual(after);
        for (const counts of seen) {
          for (const name of names) {
            const least = Math.min(before.get(name)!, after.get(name)!);
            expect(counts.get(name)).toBeGreaterThanOrEqual(least);
          }
        }
      },
    ),
    { numRuns: 100 },
  );
});

function countsOf({ state }: Cluster): Map<string, number> {
  const counts = new Map(names.map((name) => [name, 0]));
  for (const { ServiceName } of state.read().table(importedInstances).scan()) {
    counts.set(ServiceName, counts.get(ServiceName)! + 1);
  }
  return counts;
}
