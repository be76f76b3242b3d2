/** The page of limits is what the code goes by, and what callers meet. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { limitsReference, page, valueText } from '../../tools/limits-reference.ts';
import { startApi } from '../support/api.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const markdown = readFileSync(join(checkout, page), 'utf8');

test('the page is current: npm run docs writes it', () => {
  expect(markdown).toBe(limitsReference());
});

test.each([
  ['http.bodyBytesMax', '1 MiB'],
  ['task.variableBytesMax', '131,071 bytes'],
  ['names.lengthMax', '256 characters'],
  ['watch.waitMaxMs', '10m'],
  ['acl.linksMax', '1,000'],
] as const)('%s is told as %s', (path, text) => {
  expect(valueText(path)).toBe(text);
});

const long = (length: number) => 'x'.repeat(length);
const pairs = (count: number, value = '') =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, value]));
const identities = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ ServiceName: `s-${at}` }));

const rowOf = (text: string) => markdown.split('\n').find((line) => line.includes(text)) ?? '';

/** The number in the row of the page. */
const told = (text: string): number =>
  Number(/\| ([\d,]+)[^|]*\|/.exec(rowOf(text))?.[1]?.replaceAll(',', ''));

const { names, acl, nodePool, config } = limits;
test.each([
  [
    '| a token |',
    names.descriptionLengthMax,
    '/v1/acl/token',
    (n: number) => ({ Description: long(n) }),
  ],
  [
    '| a node pool |',
    nodePool.descriptionLengthMax,
    '/v1/node/pools',
    (n: number) => ({ Name: 'pool', Description: long(n) }),
  ],
  [
    '`nodePool.metaMax`',
    nodePool.metaMax,
    '/v1/node/pools',
    (n: number) => ({ Name: 'pool', Meta: pairs(n) }),
  ],
  [
    '`nodePool.metaTextLengthMax`',
    nodePool.metaTextLengthMax,
    '/v1/node/pools',
    (n: number) => ({ Name: 'pool', Meta: pairs(1, long(n)) }),
  ],
  [
    '`acl.linksMax`',
    acl.linksMax,
    '/v1/acl/token',
    (n: number) => ({ ServiceIdentities: identities(n) }),
  ],
  [
    '`config.metaPairsMax`',
    config.metaPairsMax,
    '/v1/config',
    (n: number) => ({ Kind: 'service-defaults', Name: 'web', Meta: pairs(n) }),
  ],
])('a caller meets %s', async (row, most, path, body) => {
  expect(told(row)).toBe(most);
  const api = await startApi();
  const write = async (n: number) => (await api.call('PUT', path, { body: body(n) })).status;
  expect([await write(most), await write(most + 1)]).toEqual([200, 400]);
});
