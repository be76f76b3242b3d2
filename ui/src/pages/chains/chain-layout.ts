/**
 * Places for the parts of a discovery chain, from left to right: the column of a part is its greatest distance from the
 * start, and all targets stand in the last one. A part stands at the middle of what it leads to.
 */
import type { ChainAnswer } from '../../../../src/sdk/discovery-chains.ts';
import { writtenText } from '../../parts/format.ts';

export type Chain = ChainAnswer['Chain'];
export type PartType = 'router' | 'splitter' | 'resolver' | 'target';

export interface Part {
  readonly key: string;
  readonly type: PartType;
  /** The service, and its subset. */
  readonly title: string;
  readonly detail: string;
  readonly leads: readonly Lead[];
}

export interface Lead {
  readonly to: string;
  readonly label: string;
  /** Taken only if no instance of the target is healthy. */
  readonly isFailover: boolean;
}

export interface PlacedPart extends Part {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly parts: readonly PlacedPart[];
  readonly width: number;
  readonly height: number;
}

export const boxSize = { width: 188, height: 52 } as const;
const gap = { column: 116, row: 20 } as const;
const margin = 12;

/** All parts, in the order of the traffic. A key of a target begins with "target:". */
export function partsOf(chain: Chain): readonly Part[] {
  const nodes = Object.entries(chain.Nodes).map(([key, node]): Part => {
    if (node.Type === 'resolver') return resolverPart(chain, key, node);
    const leads = node.Type === 'router' ? routeLeads(node) : splitLeads(node);
    const count = leads.length;
    return {
      key,
      type: node.Type ?? 'resolver',
      title: serviceOf(node.Name ?? key),
      detail:
        node.Type === 'router'
          ? `${count} route${count === 1 ? '' : 's'} in order`
          : `${count} split${count === 1 ? '' : 's'}`,
      leads,
    };
  });
  const targets = Object.entries(chain.Targets).map(([key, target]): Part => {
    const place = target.Peer
      ? `at the peer ${target.Peer}`
      : `in ${target.Datacenter ?? 'no datacenter'}`;
    return {
      key: targetKey(key),
      type: 'target',
      title: titled(target.Service ?? key, target.ServiceSubset),
      detail: target.External ? `${place}, outside of the mesh` : place,
      leads: [],
    };
  });
  return [...nodes, ...targets];
}

type Node = Chain['Nodes'][string];

function resolverPart(chain: Chain, key: string, node: Node): Part {
  const resolver = node.Resolver;
  const target = resolver?.Target ?? '';
  const failovers = (resolver?.Failover?.Targets ?? []).map((name, index) => ({
    to: targetKey(name),
    label: `else ${index + 1}`,
    isFailover: true,
  }));
  const { Service = node.Name ?? key, ServiceSubset } = chain.Targets[target] ?? {};
  return {
    key,
    type: 'resolver',
    title: titled(Service, ServiceSubset),
    detail: `${writtenText(String(resolver?.ConnectTimeout ?? '?'))} to connect`,
    leads: [{ to: targetKey(target), label: '', isFailover: false }, ...failovers],
  };
}

const routeLeads = ({ Routes }: Node): readonly Lead[] =>
  (Routes ?? []).map(({ Definition, NextNode = '' }) => ({
    to: NextNode,
    label: matchWords(Definition?.Match?.HTTP),
    isFailover: false,
  }));

const splitLeads = ({ Splits }: Node): readonly Lead[] =>
  (Splits ?? []).map(({ Weight = 0, NextNode = '' }) => ({
    to: NextNode,
    label: `${Number(Weight)} %`,
    isFailover: false,
  }));

interface HttpMatch {
  readonly PathExact?: string;
  readonly PathPrefix?: string;
  readonly PathRegex?: string;
  readonly Methods?: readonly string[];
  readonly Header?: readonly object[];
  readonly QueryParam?: readonly object[];
}

function matchWords(match: unknown): string {
  if (typeof match !== 'object' || match === null) return 'all';
  const { PathExact, PathRegex, Methods, Header, QueryParam } = match as HttpMatch;
  const PathPrefix = (match as HttpMatch).PathPrefix?.replace(/^\/$/, '');
  const words = [
    Methods?.join('|') ?? '',
    PathExact
      ? `= ${PathExact}`
      : PathPrefix
        ? `${PathPrefix}…`
        : PathRegex
          ? `~ ${PathRegex}`
          : '',
    (Header?.length ?? 0) > 0 ? 'headers' : '',
    (QueryParam?.length ?? 0) > 0 ? 'parameters' : '',
  ].filter((word) => word !== '');
  return words.length === 0 ? 'all' : words.join(' ');
}

const targetKey = (name: string): string => `target:${name}`;
const titled = (service: string, subset: string | undefined): string =>
  subset ? `${service} (${subset})` : service;
/** The name of a router or a splitter is SERVICE.NAMESPACE.PARTITION. */
const serviceOf = (name: string): string => name.replace(/\.[^.]+\.[^.]+$/, '');

export function layoutOf(parts: readonly Part[], start: string): Layout {
  const byKey = new Map(parts.map((part) => [part.key, part]));
  const columns = columnsOf(byKey, start);
  const last = Math.max(0, ...columns.values());
  const centres = new Map<string, number>();
  /** The lowest free place of each column. */
  const free = new Map<number, number>();
  const step = boxSize.height + gap.row;

  const place = (key: string): number => {
    const known = centres.get(key);
    const part = byKey.get(key);
    if (known !== undefined || part === undefined) return known ?? 0;
    // A chain has no cycles, but a faulty answer must not hang the page.
    centres.set(key, 0);
    const below = part.leads.filter(({ to }) => byKey.has(to)).map(({ to }) => place(to));
    const column = part.type === 'target' ? last : (columns.get(key) ?? 0);
    const middle = below.length === 0 ? 0 : (Math.min(...below) + Math.max(...below)) / 2;
    const centre = Math.max(middle, free.get(column) ?? 0);
    centres.set(key, centre);
    free.set(column, centre + step);
    return centre;
  };
  place(start);
  for (const { key } of parts) place(key);

  const placed = parts.map((part) => {
    const column = part.type === 'target' ? last : (columns.get(part.key) ?? 0);
    return {
      ...part,
      x: margin + column * (boxSize.width + gap.column),
      y: margin + (centres.get(part.key) ?? 0),
    };
  });
  return {
    parts: placed,
    width: Math.max(...placed.map(({ x }) => x), 0) + boxSize.width + margin,
    height: Math.max(...placed.map(({ y }) => y), 0) + boxSize.height + margin,
  };
}

function columnsOf(byKey: ReadonlyMap<string, Part>, start: string): ReadonlyMap<string, number> {
  const columns = new Map<string, number>();
  const visit = (key: string, column: number, above: ReadonlySet<string>): void => {
    if (above.has(key) || column <= (columns.get(key) ?? -1)) return;
    columns.set(key, column);
    const path = new Set([...above, key]);
    for (const { to } of byKey.get(key)?.leads ?? []) visit(to, column + 1, path);
  };
  visit(start, 0, new Set());
  return columns;
}

export interface Edge {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  /** Of an SVG path. */
  readonly d: string;
  readonly label: string;
  readonly labelX: number;
  readonly labelY: number;
  readonly isFailover: boolean;
}

/** Several ways from a part to another one are one line with all their labels. */
export function edgesOf({ parts }: Layout): readonly Edge[] {
  const byKey = new Map(parts.map((part) => [part.key, part]));
  /** The labels above each part that lines lead to: they stand one above the other, each once. */
  const above = new Map<string, Set<string>>();
  const labelHeight = 13;
  return parts.flatMap((from) => {
    const groups = Map.groupBy(from.leads, ({ to, isFailover }) => `${isFailover}/${to}`);
    return [...groups].flatMap(([key, leads]): Edge[] => {
      const { to: name, isFailover } = leads[0]!;
      const to = byKey.get(name);
      if (to === undefined) return [];
      const [x1, y1] = [from.x + boxSize.width, from.y + boxSize.height / 2];
      const [x2, y2] = [to.x, to.y + boxSize.height / 2];
      const bend = Math.min((x2 - x1) / 2, gap.column / 2);
      const words = leads.map(({ label }) => label).join(', ');
      const others = above.get(name) ?? new Set();
      above.set(name, others);
      const label = others.has(words) ? '' : words;
      const labelY = y2 - 6 - others.size * labelHeight;
      if (label !== '') others.add(label);
      return [
        {
          key: `${from.key}→${key}`,
          from: from.key,
          to: name,
          d: `M ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - gap.column + bend / 2} ${y2}, ${x2 - gap.column + bend} ${y2} L ${x2 - 4} ${y2}`,
          label,
          labelX: x2 - 10,
          labelY,
          isFailover,
        },
      ];
    });
  });
}
