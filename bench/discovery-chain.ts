import { SimulatedWorld } from '../src/base/ports-simulated.ts';
import {
  type ConfigEntry,
  type EntryKey,
  keyOfEntry,
} from '../src/model/config-entry/config-entry.ts';
import { completeEntry, decodeEntry } from '../src/model/config-entry/entry.ts';
import { entryFaults } from '../src/model/config-entry/entry-faults.ts';
import { checkGraph } from '../src/model/config-entry/graph.ts';
import type { EntryView } from '../src/model/config-entry/kind.ts';
import { presentEntry } from '../src/model/config-entry/present.ts';
import { compileChain } from '../src/model/discovery-chain/compile.ts';
import { noOverrides } from '../src/model/discovery-chain/discovery-chain.ts';
import { presentChain } from '../src/model/discovery-chain/present.ts';
import { putDerived } from '../src/server/config-entries/rows.ts';
import { entryViewOf } from '../src/server/config-entries/view.ts';
import { memoryState } from '../src/state/state.test-helper.ts';
import { allTables } from '../src/state/tables.ts';
import { alternate, type Benchmark } from './benchmark.ts';
import { limits } from './limits.ts';
import { warmMs } from './thread-time.ts';

const { entries: entryCount, all: allCount } = limits.discoveryChain;
const place = { namespace: 'default', partition: 'default' };

/** Chains and the check of changes, in this process and without a server. */
export const discoveryChain: Benchmark = {
  name: 'discovery-chain',
  title: `A discovery chain is made of ${entryCount} entries`,
  baseline: '`JSON.stringify` of the same entries as they are shown',
  takesGiven: false,
  async run(setting) {
    const bodies = chainBodies('web', entryCount);
    const large = await viewWith(bodies);
    const shown = bodies.map((body) => presentEntry(entryOf(body)));
    const compiled = await alternate(
      setting,
      async () => warmMs(() => chainOf(large, 'web')),
      async () => warmMs(() => JSON.stringify(shown)),
    );
    const chain = chainOf(large, 'web');
    const presented = await alternate(
      setting,
      async () => warmMs(() => JSON.stringify(presentChain(chain))),
      async () => warmMs(() => JSON.stringify(shown)),
    );
    const { view, changes } = await manyChains();
    let at = 0;
    const checkMs = () =>
      warmMs(() => {
        const sentences = checkGraph(view, [changes[at++ % changes.length]!]);
        if (sentences.length > 0) throw new Error(sentences[0]);
      });
    const goal = { of: 'median', is: 'at most', value: 5 } as const;
    return {
      figures: [
        { name: 'made', unit: 'ms', ...compiled, target: goal },
        { name: 'written out', unit: 'ms', ...presented },
        {
          name: `a change among ${allCount} entries is checked`,
          unit: 'ms',
          ours: Array.from({ length: setting.runs }, checkMs),
          // A quarter of the time of a write at 2,000 writes per second.
          target: { ...goal, value: 0.125 },
        },
      ],
      notes: [
        `The chain has ${chain.Nodes.size} nodes and ${chain.Targets.size} targets. ` +
          'Entries are rows of the state. Warm medians of the thread’s processor time.',
      ],
    };
  },
};

type Body = Readonly<Record<string, unknown>>;

function entryOf(body: Body): ConfigEntry {
  const given = decodeEntry(body);
  const entry = completeEntry(given, place);
  const faults = entryFaults(given, entry);
  if (faults.length > 0) throw new Error(`${faults[0]!.pointer}: ${faults[0]!.message}`);
  return entry;
}

function chainOf(view: EntryView, name: string) {
  const service = { ...place, name };
  const request = { service, datacenter: 'dc1', overrides: noOverrides };
  const { chain, refusal } = compileChain(view, request);
  if (chain === undefined) throw new Error(refusal);
  return chain;
}

/** A router that leads to services, each with defaults, a splitter and a resolver. */
function chainBodies(name: string, count: number): readonly Body[] {
  const services = Array.from({ length: Math.floor((count - 2) / 3) }, (_, at) => `${name}-${at}`);
  const path = (service: string) => ({
    Match: { HTTP: { PathPrefix: `/${service}`, Header: [{ Name: 'x-of', Exact: service }] } },
    Destination: { Service: service, RequestTimeout: '15s', NumRetries: 3 },
  });
  const defaults = (Name: string) => ({ Kind: 'service-defaults', Name, Protocol: 'http' });
  return [
    defaults(name),
    ...services.flatMap((Name) => [
      defaults(Name),
      {
        Kind: 'service-resolver',
        Name,
        ConnectTimeout: '3s',
        DefaultSubset: 'v1',
        Subsets: { v1: { Filter: 'Service.Meta.version == v1' }, v2: {} },
        Failover: { '*': { Datacenters: ['dc2', 'dc3'] } },
      },
      {
        Kind: 'service-splitter',
        Name,
        Splits: [{ Weight: 90 }, { Weight: 10, ServiceSubset: 'v2' }],
      },
    ]),
    { Kind: 'service-router', Name: name, Routes: services.map(path) },
  ];
}

async function viewWith(bodies: readonly Body[]): Promise<EntryView> {
  const state = await memoryState(allTables, new SimulatedWorld(1, 0));
  const entries = bodies.map(entryOf);
  await state.write((transaction) => {
    for (const entry of entries) putDerived(transaction, entry);
  });
  return entryViewOf(state.read());
}

/** As many chains of ten entries as there is room for, and the keys of all entries. */
async function manyChains(): Promise<{ view: EntryView; changes: readonly EntryKey[] }> {
  const bodies = Array.from({ length: Math.ceil(allCount / 11) }, (_, at) =>
    chainBodies(`app${at}`, 11),
  ).flat();
  const changes = bodies.map((body) => keyOfEntry(entryOf(body)));
  return { view: await viewWith(bodies), changes };
}
