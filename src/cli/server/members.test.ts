import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const alive = { Status: 'alive', Version: '1.0.0', Index: 20, LastContactMs: 0, ClockSkewMs: 0 };
const members = [
  { ID: 'a', Address: '10.0.0.1:4720', Leader: true, Self: false, ...alive, Behind: 0 },
  { ID: 'b', Address: '10.0.0.2:4720', Leader: false, Self: true, ...alive, Behind: 3 },
  { ID: 'c', Address: '10.0.0.3:4720', Leader: false, Self: false, Status: 'unreachable' },
];
const cli = (words: string) =>
  run(words.split(' '), { server: { 'GET /v1/servers': { json: members } } });

test('servers are listed with the leader, and with their distance to it', async () => {
  expect((await cli('server members')).stdout).toBe(
    [
      'ID   Address        Status       Leader  Behind  Version',
      'a    10.0.0.1:4720  alive        yes     0       1.0.0',
      'b *  10.0.0.2:4720  alive        no      3       1.0.0',
      'c    10.0.0.3:4720  unreachable  no',
      '',
    ].join('\n'),
  );
});

test('servers are listed as JSON', async () => {
  expect(JSON.parse((await cli('server members -json')).stdout)).toEqual(members);
});
