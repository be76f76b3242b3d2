import { describe, expect, test } from 'vitest';
import { run, type Setting } from '../harness.test-helper.ts';
import type { EngineCommands, RepairedStore, StoreOptions } from './engines.ts';

/** Runs a command, with what the stores were asked. */
async function asked(words: readonly string[], setting: Setting = {}) {
  const calls: unknown[] = [];
  const engines: Pick<EngineCommands, 'migrate' | 'recover'> = {
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

describe('operator store', () => {
  const lost: RepairedStore = {
    directory: '/data/server',
    index: 16,
    rows: 4,
    faults: [{ at: 'batch 17 of the log', fault: 'its checksum does not match' }],
    faultyRows: [],
    lostRows: [
      { table: 'jobs', key: ['default', 'web'], index: 18, change: 'written', isCertain: true },
      {
        table: 'jobs',
        key: ['?', undefined],
        index: undefined,
        change: 'deleted',
        isCertain: false,
      },
    ],
    lostPieces: [{ at: 'batch 17 of the log', fromIndex: 17 }],
  };
  const sound: RepairedStore = { ...lost, faults: [], lostRows: [], lostPieces: [] };

  async function ran(words: readonly string[], store: RepairedStore) {
    const calls: unknown[] = [];
    const answer = async (options: unknown) => {
      calls.push(options);
      return store;
    };
    const engines = { checkStore: answer, repairStore: answer };
    return { calls, ...(await run(['operator', 'store', ...words], { engines })) };
  }

  test('says that a store is sound', async () => {
    const { calls, exitCode, stdout } = await ran(['check', '--data-dir', '/data'], sound);
    expect([exitCode, calls]).toEqual([0, [{ dataDirectory: '/data' }]]);
    expect(stdout).toBe('The store in /data/server is sound: index 16, 4 rows.\n');
  });

  test('shows every fault, and row by row what a repair loses', async () => {
    const { exitCode, stdout } = await ran(['check', '--data-dir', '/data'], lost);
    expect(exitCode).toBe(1);
    expect(stdout).toBe(`1 fault:
  batch 17 of the log: its checksum does not match

Lost with all rows in it
  batch 17 of the log (from index 17 on)

2 lost rows
Table  Key          Index  Change
jobs   default/web  18     written
jobs   ?/?          -      deleted, perhaps
`);
  });

  test('repairs only with -yes if rows are lost, and fails as long as the store is damaged', async () => {
    const asked = await ran(['repair', '--data-dir', '/data'], lost);
    const given = { dataDirectory: '/data', mayLose: false, isWithoutRootKey: false };
    expect([asked.exitCode, asked.calls]).toEqual([1, [given]]);
    expect(asked.stdout).toContain('Nothing was changed. To repair it and lose this, add -yes.');
    const words = ['repair', '--data-dir', '/data', '-yes', '-without-root-key'];
    const repaired = { index: 99, damaged: '/data/server.damaged-x' };
    const done = await ran(words, { ...lost, repaired });
    expect([done.exitCode, done.calls]).toEqual([
      0,
      [{ ...given, mayLose: true, isWithoutRootKey: true }],
    ]);
    expect(done.stdout).toContain('4 rows of index 16, it goes on at index 99.');
  });

  test('names rows with a faulty field, and says that nothing of them is lost', async () => {
    const at = 'the row a1 of the table acl-tokens, field Roles';
    const faultyRows = [{ at, fault: 'it is no array; a repair keeps the row as it is' }];
    const checked = await ran(['check', '--data-dir', '/data'], { ...sound, faultyRows });
    expect([checked.exitCode, checked.stdout]).toEqual([
      1,
      `1 fault:\n  ${at}: it is no array; a repair keeps the row as it is\n`,
    ]);
    const kept =
      'Nothing is lost of 1 row with a faulty field: a repair keeps such a row as it is.';
    const repaired = await ran(['repair', '--data-dir', '/data'], { ...sound, faultyRows });
    expect([repaired.exitCode, repaired.stdout]).toEqual([1, expect.stringContaining(kept)]);
    expect(repaired.stdout).not.toContain('-yes');
    const json = await ran(['check', '--data-dir', '/data', '-json'], { ...sound, faultyRows });
    expect(JSON.parse(json.stdout).Faults).toEqual([{ At: at, Fault: faultyRows[0]!.fault }]);
  });

  test('prints JSON, and names a missing data directory', async () => {
    const { stdout } = await ran(['repair', '--data-dir', '/data', '-json'], lost);
    expect(JSON.parse(stdout)).toMatchObject({
      Faults: [{ At: 'batch 17 of the log', Fault: 'its checksum does not match' }],
      LostRows: [
        { Table: 'jobs', Key: ['default', 'web'], Index: 18, Change: 'written', Certain: true },
        { Key: ['?', null], Index: null, Change: 'deleted', Certain: false },
      ],
      LostPieces: [{ FromIndex: 17, ToIndex: null }],
      Repaired: false,
      NewIndex: null,
    });
    const without = await ran(['check'], sound);
    expect([without.exitCode, without.calls]).toEqual([1, []]);
    expect(without.stderr).toContain('--data-dir is missing');
  });
});
