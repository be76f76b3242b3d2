import { describe, expect, test } from 'vitest';
import { run, type Setting } from '../harness.test-helper.ts';
import type { EngineCommands, StoreOptions } from './engines.ts';

/** Runs a command, with what the stores were asked. */
async function asked(words: readonly string[], setting: Setting = {}) {
  const calls: unknown[] = [];
  const engines: EngineCommands = {
    async migrate(options, progress) {
      calls.push(options);
      for (const step of ['read', 'write', 'compare'] as const) progress(step, 7);
      return { index: 12, rows: 3, hash: 'abc', from: 'the one', to: 'the other' };
    },
    async recover(options) {
      calls.push(options);
      return { from: 12, index: 99, wasRecovered: options.from === 'etcd', to: 'the log' };
    },
  };
  return { calls, ...(await run(['operator', ...words], { engines, ...setting })) };
}

const flags = ['--data-dir', '/data', '--etcd-endpoints', '10.0.0.7:2379,10.0.0.8:2379'];
const etcd = { endpoints: ['10.0.0.7:2379', '10.0.0.8:2379'], prefix: '/roster/', usesTls: false };

describe('operator engine migrate', () => {
  test('takes the flags of the agent, and prints each step', async () => {
    const ran = await asked(['engine', 'migrate', '--to', 'etcd', ...flags]);
    expect(ran.calls).toEqual([
      expect.objectContaining({
        to: 'etcd',
        dataDirectory: '/data',
        etcd: expect.objectContaining(etcd),
      }),
    ]);
    expect(ran.stderr).toBe('Reading the state\nWriting the copy\nReading the copy back\n');
    expect(ran.stdout).toBe(
      'Moved the state at index 12 (3 rows) to the other.\n' +
        'Its hash is abc on both sides.\nSealed the one: no agent starts on it.\n',
    );
  });

  test('takes the configuration of the agent, whatever its engine, and prints JSON', async () => {
    const configuration = {
      data_dir: '/var/lib/roster',
      engine: 'embedded',
      http: '127.0.0.1:1',
      etcd: { endpoints: ['https://10.0.0.7:2379'], prefix: '/a/' },
    };
    const files = { 'agent.json': JSON.stringify(configuration) };
    const words = ['engine', 'migrate', '--to', 'sqlite', '--config', 'agent.json', '-json'];
    const ran = await asked(words, { files });
    const [options] = ran.calls as [StoreOptions];
    expect(options.dataDirectory).toBe('/var/lib/roster');
    expect(options.etcd).toMatchObject({
      endpoints: ['10.0.0.7:2379'],
      usesTls: true,
      prefix: '/a/',
    });
    expect(JSON.parse(ran.stdout)).toEqual({
      Index: 12,
      Rows: 3,
      Hash: 'abc',
      From: 'the one',
      To: 'the other',
    });
  });

  test.each([
    [
      ['--to', 'etcd'],
      ['--etcd-endpoints is missing', '--data-dir is missing'],
    ],
    [
      ['--to', 'etcd', '--data-dir', '/d', '--etcd-endpoints', 'x'],
      ['--etcd-endpoints must be a list'],
    ],
    [flags, ['Say where the state goes']],
  ])('refuses %j by name', async (words, sentences) => {
    const ran = await asked(['engine', 'migrate', ...words]);
    expect([ran.exitCode, ran.calls]).toEqual([1, []]);
    for (const sentence of sentences) expect(ran.stderr).toContain(sentence);
  });
});

describe('operator recover', () => {
  test('says what goes on, and what to do on the other servers', async () => {
    const ran = await asked(['recover', '--from', 'disk', ...flags]);
    expect(ran.calls).toEqual([expect.objectContaining({ from: 'disk', dataDirectory: '/data' })]);
    expect(ran.stdout).toBe(
      'Recovered the log from disk: the state at index 12 goes on at index 99.\n' +
        'Run "roster operator recover --from etcd" on every other server. Then start them.\n',
    );
  });

  test('says that another server has recovered the log before', async () => {
    const ran = await asked(['recover', '--from', 'etcd', ...flags]);
    expect(ran.stdout).toBe(
      'This server goes on from index 99 of the log, which was recovered before.\n',
    );
  });

  test('wants to be told the source', async () => {
    const ran = await asked(['recover', ...flags]);
    expect([ran.exitCode, ran.stderr]).toEqual([
      1,
      expect.stringContaining('--from etcd or --from disk'),
    ]);
  });
});
