/** The page of metrics is what the code defines, and what an agent tells. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { page, withTables } from '../../tools/metrics-reference.ts';
import { startApi } from '../support/api.ts';
import { testsFollower } from '../support/follower.ts';
import { shapesIn } from '../support/metrics.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const markdown = readFileSync(join(checkout, page), 'utf8');

/** Name, type and labels of each metric on the page, by name. */
const documented = new Map(
  [...markdown.matchAll(/^\| `(roster_\w+)` \| (\w+) \| ([^|]+) \| ([^|]+)/gm)].map(
    ([, name, type, labels, meaning]) => [
      name!,
      { type: type!, labels: [...labels!.matchAll(/\w+/g)].map(String), meaning: meaning! },
    ],
  ),
);

test('the page is current: npm run docs writes it', () => {
  expect(markdown).toBe(withTables(markdown));
});

test('a server tells the metrics of the page, and no others', async () => {
  const { call } = await startApi();
  const { text } = await call('GET', '/v1/metrics?format=prometheus');
  const told = new Map([...shapesIn(text)].filter(([name]) => name.startsWith('roster_')));
  expect([...told.keys()].filter((name) => !documented.has(name))).toEqual([]);
  const ofNodes = markdown.slice(markdown.indexOf('## Metrics of a node'));
  const missing = [...documented]
    .filter(([name]) => !told.has(name) && !ofNodes.includes(`\`${name}\``))
    // Neither a schedule of snapshots nor etcd nor another thread is here.
    .filter(
      ([, { meaning }]) =>
        !/without a schedule|without such threads|since this server leads|etcd/.test(meaning),
    )
    .filter(([, { meaning }]) => !testsFollower || !meaning.includes('Only on the leader'));
  expect(missing).toEqual([]);
  for (const [name, { type, labels }] of told) {
    const known = documented.get(name)!;
    expect([name, type]).toEqual([name, known.type]);
    if (labels.size > 0)
      expect([name, [...labels].sort()]).toEqual([name, [...known.labels].sort()]);
  }
});

test('no label is one that Prometheus sets itself', () => {
  const taken = [...documented].filter(([, { labels }]) =>
    labels.some((one) => /^(job|instance|le)$/.test(one)),
  );
  expect(taken).toEqual([]);
});

test('names have the suffixes of their types and units', () => {
  const names = [...documented];
  expect(
    names.filter(([name, { type }]) => (type === 'counter') !== name.endsWith('_total')),
  ).toEqual([]);
  expect(names.filter(([name]) => /_(ms|milliseconds|mb|mhz|percent)\b/.test(name))).toEqual([]);
});
