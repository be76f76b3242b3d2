import type { ChainAnswer, ShownNode } from '../../sdk/discovery-chains.ts';
import { oneLine } from '../render/text.ts';

type Row = readonly [node: string, what: string, next: string];
type Match = NonNullable<NonNullable<ShownNode['Routes']>[number]['Definition']>['Match'];

/** The nodes of a chain in the order of the traffic, with a line for each next node. */
export function chainRows(chain: ChainAnswer['Chain']): readonly Row[] {
  const rows: Row[] = [];
  const seen = new Set<string>();
  const open = [chain.StartNode];
  for (let id = open.shift(); id !== undefined; id = open.shift()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const node = chain.Nodes[id];
    if (node === undefined) continue;
    const ways = waysOf(node);
    ways.forEach(([what, next], index) => {
      rows.push([index === 0 ? oneLine(id) : '', oneLine(what), oneLine(next)]);
    });
    for (const { NextNode } of node.Routes ?? node.Splits ?? []) open.push(NextNode ?? '');
  }
  return rows;
}

function waysOf({ Routes, Splits, Resolver }: ShownNode): readonly (readonly [string, string])[] {
  if (Routes !== undefined) {
    return Routes.map(({ Definition, NextNode }) => [
      matchWords(Definition?.Match),
      NextNode ?? '',
    ]);
  }
  if (Splits !== undefined) {
    return Splits.map(({ Weight, NextNode }) => [`${Weight} %`, NextNode ?? '']);
  }
  const failover = Resolver?.Failover?.Targets ?? [];
  return [
    [`${Resolver?.ConnectTimeout ?? '0s'} to connect`, Resolver?.Target ?? ''],
    ...failover.map((target) => ['if none is well', target] as const),
  ];
}

/** A short form of a route's match: `GET /admin… x-debug`. */
function matchWords(match: Match): string {
  const http = match?.HTTP;
  if (http === undefined) return 'every request';
  const { PathExact, PathPrefix, PathRegex, Header = [], QueryParam = [], Methods = [] } = http;
  const words = [
    Methods.join('|'),
    PathExact ?? '',
    PathPrefix === undefined ? '' : `${PathPrefix}…`,
    PathRegex === undefined ? '' : `~ ${PathRegex}`,
    ...Header.map(({ Name = '', Invert }) => `${Invert ? 'not ' : ''}header ${Name}`),
    ...QueryParam.map(({ Name = '' }) => `?${Name}`),
  ];
  return words.filter((word) => word !== '').join(' ') || 'every request';
}
