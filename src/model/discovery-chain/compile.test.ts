import { describe, expect, test } from 'vitest';
import { entryOf, viewOf } from '../config-entry/entry-view.test-helper.ts';
import { limits } from '../limits.ts';
import { goldenCases, http, path, resolver, router, splitter } from './chains.test-helper.ts';
import { compileChain } from './compile.ts';
import { type ChainStep, noOverrides } from './discovery-chain.ts';
import { presentChain } from './present.ts';

type Body = Readonly<Record<string, unknown>>;
const service = { partition: 'default', namespace: 'default', name: 'web' };

function compiled(entries: readonly Body[], steps?: ChainStep[]) {
  const request = { service, datacenter: 'dc1', overrides: noOverrides };
  return compileChain(viewOf(entries.map(entryOf)), request, steps);
}

describe('golden chains', () => {
  test.each(goldenCases)('$name', async (golden) => {
    const { name, about, entries, datacenter = 'dc1', overrides = {} } = golden;
    const steps: ChainStep[] = [];
    const request = { service, datacenter, overrides: { ...noOverrides, ...overrides } };
    const view = viewOf(entries.map(entryOf));
    const { chain, refusal } = compileChain(view, request, steps);
    // A request with steps gets the same chain as a request without.
    expect(compileChain(view, request)).toEqual({ ...(chain ? { chain } : { refusal }) });
    const outcome = chain === undefined ? { Refusal: refusal } : { Chain: presentChain(chain) };
    const told = steps.map(({ Node, Entry, Sentence }) => {
      const by = Entry === null ? '' : ` [${Entry.Kind} ${Entry.Name}]`;
      return `${Node === '' ? 'chain' : Node}: ${Sentence}${by}`;
    });
    const asked = { datacenter, ...overrides };
    const text = [
      about,
      '',
      'Entries:',
      ...entries.map((entry) => `  ${JSON.stringify(entry)}`),
      '',
      `Asked: ${JSON.stringify(asked)}`,
      '',
      'Steps:',
      ...told.map((line) => `  ${line}`),
      '',
      JSON.stringify(outcome, null, 2),
      '',
    ].join('\n');
    await expect(text).toMatchFileSnapshot(`../../../test/golden/discovery-chains/${name}.txt`);
  });
});

describe('bounds', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);
  const redirects = (count: number) => [
    resolver('web', { Redirect: { Service: 's0' } }),
    ...names(count - 1).map((name, index) =>
      resolver(name, { Redirect: { Service: `s${index + 1}` } }),
    ),
  ];
  const nested = (count: number) => [
    { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } },
    splitter('web', { Weight: 100, Service: 's0' }),
    ...names(count - 1).map((name, index) =>
      splitter(name, { Weight: 100, Service: `s${index + 1}` }),
    ),
  ];
  const { depthMax, partsMax } = limits.discoveryChain;

  test('as many redirects in a row as the limit allows', () => {
    expect(compiled(redirects(depthMax - 1)).refusal).toBeUndefined();
    expect(compiled(redirects(depthMax)).refusal).toMatch(
      /has more than 64 redirects or splitters/,
    );
  });

  test('as many nested splitters as the limit allows', () => {
    const { chain } = compiled(nested(depthMax));
    expect(chain!.Nodes.size).toBe(2);
    expect(compiled(nested(depthMax + 1)).refusal).toMatch(/has more than 64 redirects or/);
  });

  test('splits that multiply are refused before they fill the memory', () => {
    const split = (name: string, to: string) =>
      splitter(
        name,
        ...Array.from({ length: 100 }, (_, index) => ({ Weight: 1, Service: `${to}${index}` })),
      );
    const wide = [
      { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } },
      split('web', 'a'),
      ...Array.from({ length: 100 }, (_, index) => split(`a${index}`, 'b')),
    ];
    expect(compiled(wide).refusal).toBe(
      `discovery chain "web" has more than ${partsMax} routes, splits, redirects and failover targets`,
    );
  });
});

test('a route to a service and a route to its subset share nodes', () => {
  const { chain } = compiled([
    ...http('web', 'b'),
    router('web', path('/a', { Service: 'b' }), path('/b', { Service: 'b' })),
  ]);
  expect(
    chain!.Nodes.get('router:web.default.default')?.Routes?.map(({ NextNode }) => NextNode),
  ).toEqual([
    'resolver:b.default.default.dc1',
    'resolver:b.default.default.dc1',
    'resolver:web.default.default.dc1',
  ]);
});
