import { expect, test } from 'vitest';
import { nowMs, run } from '../harness.test-helper.ts';

const upgrade = {
  Final: false,
  Hold: true,
  RaisedAt: (nowMs - 60_000) * 1e6,
  Pending: [
    { Table: 'jobs', Written: 2, Newest: 3 },
    { Table: 'mottos', Written: 0, Newest: 1 },
  ],
  Servers: [
    {
      ID: 'a',
      Address: '10.0.0.1:4720',
      Version: '2.0.0',
      Connected: true,
      SeenAt: (nowMs - 1000) * 1e6,
      Lacks: [],
    },
    {
      ID: 'b',
      Address: '10.0.0.2:4720',
      Version: '1.0.0',
      Connected: false,
      SeenAt: (nowMs - 7_200_000) * 1e6,
      Lacks: ['jobs 3', 'mottos 1'],
    },
  ],
};
const done = { ...upgrade, Final: true, Hold: false, Pending: [] };
const cli = (words: string) =>
  run(words.split(' '), {
    server: {
      'GET /v1/operator/upgrade': { json: upgrade },
      'PUT /v1/operator/upgrade/hold': { json: upgrade },
      'PUT /v1/operator/upgrade/finalize': { json: done },
    },
  });

test('an upgrade is shown with the tables that wait, and the servers that hold it up', async () => {
  expect((await cli('operator upgrade status')).stdout).toBe(
    [
      'Final   no',
      'Hold    yes',
      'Raised  1m ago',
      '',
      'Tables that wait',
      'Table   Written  Newest',
      'jobs    2        3',
      'mottos  -        1',
      '',
      'Servers',
      'ID  Address        Version  Connected  Seen    Lacks',
      'a   10.0.0.1:4720  2.0.0    yes        1s ago  -',
      'b   10.0.0.2:4720  1.0.0    no         2h ago  jobs 3, mottos 1',
      '',
    ].join('\n'),
  );
});

test.each([
  ['hold', '/v1/operator/upgrade/hold', { Hold: true }],
  ['hold -release', '/v1/operator/upgrade/hold', { Hold: false }],
  ['finalize', '/v1/operator/upgrade/finalize', undefined],
])('upgrade %s', async (words, path, body) => {
  const { seen, exitCode } = await cli(`operator upgrade ${words}`);
  expect(exitCode).toBe(0);
  expect(seen.at(-1)).toMatchObject({ method: 'PUT', path, ...(body && { body }) });
});

test('an upgrade is shown as JSON', async () => {
  const { stdout } = await cli('operator upgrade finalize -json');
  expect(JSON.parse(stdout)).toEqual(done);
});
