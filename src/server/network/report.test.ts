import { expect, test } from 'vitest';
import type { ByteStream } from '../../model/node-stream/byte-stream.ts';
import { linesOf, type ReportLine } from './report.ts';

const standing = { epoch: 3, index: 7, nowMs: 1000, candidate: 'next', silentMs: 8000 };
const lag = { partition: 'default', name: 'west', lagMs: 31_000 };

test.each([
  ['none, by a server that knows none of them', undefined, []],
  ['those that are well formed', [lag, null, 'x', { ...lag, lagMs: 'long' }, { name: 'a' }], [lag]],
  ['none, if there is no list', { 0: lag }, []],
])('peers that lag are heard of in a report: %s', async (_title, lags, heard) => {
  const stream = (async function* () {
    yield Buffer.from(`${JSON.stringify({ standing: { ...standing, lags } })}\n`);
  })() as unknown as ByteStream;
  const lines: ReportLine[] = [];
  for await (const line of linesOf(stream)) lines.push(line);
  expect(lines).toEqual([{ standing: { ...standing, lags: heard }, held: [], lost: [] }]);
});

test.each([
  ['none, by a server that knows of none', undefined],
  ['none, if it is no number', '9'],
])('a silence of the log is heard of in a report: %s', async (_title, silentMs) => {
  const stream = (async function* () {
    yield Buffer.from(`${JSON.stringify({ standing: { ...standing, silentMs } })}\n`);
  })() as unknown as ByteStream;
  for await (const line of linesOf(stream)) expect(line.standing?.silentMs).toBe(0);
});
