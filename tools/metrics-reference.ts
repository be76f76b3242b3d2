/**
 * Writes the tables of docs/reference/metrics.md from the definitions of the code:
 * `node tools/run.mjs tools/metrics-reference.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type MetricDefinition,
  nodeMetrics,
  serverMetrics,
} from '../src/api/metrics/definitions.ts';

/** Where the page is, below the checkout. */
export const page = 'docs/reference/metrics.md';

/** Each title with the beginnings of the names below it. The first that fits has a metric. */
const sections: readonly (readonly [title: string, names: RegExp])[] = [
  ['Requests', /^roster_(http|blocking|exec|ui|nodes_connected|tokens)/],
  ['Servers', /^roster_(server|thread|writes|metrics)/],
  ['State and snapshots', /^roster_(state|snapshot)/],
  ['Scheduling', /^roster_(evaluation|plan|decider|placement)/],
  ['Jobs and services', /^roster_(jobs|allocations|deployments|service|task)/],
  ['Nodes', /^roster_node/],
  ['Peerings', /^roster_peering/],
  ['The log in etcd', /^roster_(log|etcd)/],
];

const onlyText = {
  leader: ' Only on the leader.',
  etcd: ' Only with `--engine etcd`.',
  'etcd-leader': ' Only with `--engine etcd`, on the leader.',
} as const;

const row = ([name, { type, labels = [], help, series, only }]: readonly [
  string,
  MetricDefinition,
]) => {
  const names = labels.map((label) => `\`${label}\``).join(', ') || '–';
  const meaning = help + (only === undefined ? '' : onlyText[only]);
  return `| \`${name}\` | ${type} | ${names} | ${meaning} | ${series ?? 'one'} |`;
};

function table(metrics: readonly (readonly [string, MetricDefinition])[]): string {
  const head = ['| Metric | Type | Labels | Meaning | Series |', '|---|---|---|---|---|'];
  return [...head, ...metrics.map(row)].join('\n');
}

function serverTables(): string {
  const left = new Map(Object.entries(serverMetrics));
  const texts = sections.map(([title, names]) => {
    const found = [...left].filter(([name]) => names.test(name));
    for (const [name] of found) left.delete(name);
    return `### ${title}\n\n${table(found)}`;
  });
  if (left.size > 0) throw new Error(`no section has ${[...left.keys()].join(', ')}`);
  return texts.join('\n\n');
}

const tables: Readonly<Record<string, () => string>> = {
  servers: serverTables,
  nodes: () => table(Object.entries(nodeMetrics)),
};

/** The page with the tables of today between its marks. */
export const withTables = (text: string): string =>
  text.replace(
    /(<!-- made from the code: (\w+) -->\n)[\s\S]*?(\n<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => `${begin}\n${tables[name]!()}\n${end}`,
  );

if (import.meta.main) {
  const path = fileURLToPath(new URL(`../${page}`, import.meta.url));
  writeFileSync(path, withTables(readFileSync(path, 'utf8')));
  console.log(`wrote ${page}`);
}
