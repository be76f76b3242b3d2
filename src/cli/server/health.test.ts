import { expect, test } from 'vitest';
import { nowMs, run } from '../harness.test-helper.ts';

const fine = { Healthy: true, Faults: [], Warnings: [], Status: 'alive', Version: '1.0.0' };
const health = {
  Healthy: false,
  Leader: 'a',
  LeaderSince: (nowMs - 90_000) * 1e6,
  FailureTolerance: 1,
  Servers: [
    {
      ...fine,
      ID: 'a',
      Address: '10.0.0.1:4720',
      Self: false,
      Leader: true,
      Index: 20,
      Behind: 0,
      BehindMs: 0,
      LogMs: 1,
      ClockSkewMs: 0,
    },
    {
      ...fine,
      ID: 'b',
      Address: '10.0.0.2:4720',
      Self: true,
      Leader: false,
      Index: 17,
      Behind: 3,
      BehindMs: 40,
      LogMs: 2,
      ClockSkewMs: -2500,
      Warnings: ['its clock is 2.5s behind that of the leader'],
    },
    {
      ID: 'c',
      Address: '10.0.0.3:4720',
      Self: false,
      Leader: false,
      Healthy: false,
      Status: 'unreachable',
      Faults: ['it does not answer'],
      Warnings: [],
    },
  ],
};
const cli = (words: string, json: object = health) =>
  run(words.split(' '), { server: { 'GET /v1/servers/health': { json } } });

test('every server is shown with its distance, and why it is not healthy', async () => {
  const { stdout, exitCode } = await cli('server health');
  expect(stdout).toBe(
    [
      'Healthy                no',
      'Leader                 a at 10.0.0.1:4720',
      'Leads since            1m30s ago',
      'Servers that may fail  1',
      '',
      'Servers',
      'ID   Address        Healthy  Leader  Behind     Log   Clock     Version',
      'a    10.0.0.1:4720  yes      yes     0 (0 ms)   1 ms  0 ms      1.0.0',
      'b *  10.0.0.2:4720  yes      no      3 (40 ms)  2 ms  -2500 ms  1.0.0',
      'c    10.0.0.3:4720  no       no',
      'b: warning: its clock is 2.5s behind that of the leader.',
      'c: it does not answer.',
      '',
    ].join('\n'),
  );
  expect(exitCode).toBe(1);
});

test('health is told as JSON, and by the exit code', async () => {
  const { stdout, exitCode } = await cli('server health -json');
  expect([JSON.parse(stdout), exitCode]).toEqual([health, 1]);
  expect((await cli('server health', { ...health, Healthy: true })).exitCode).toBe(0);
});
