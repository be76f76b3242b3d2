/** The data that an allocation takes over from its predecessor, with real agents. */
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pack } from 'tar-stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { needing, root } from '../../base/not-run.test-helper.ts';
import type { ByteStream } from '../../model/node-stream/byte-stream.ts';
import { assignment, dataDirectory, id, servers, startAgent } from '../agents.test-helper.ts';
import { allocationDirectories } from '../directories.ts';
import { eventually } from '../eventually.test-helper.ts';
import type { Assignment } from '../server-api.ts';
import type { SystemUser } from '../system-user.ts';
import { diskParts } from './disk-parts.ts';
import { packDisk } from './pack-disk.ts';
import { unpackDisk } from './unpack-disk.ts';

const notices: string[] = [];
beforeEach(() => notices.splice(0));
const start = () => startAgent({ onNotice: (sentence) => void notices.push(sentence) });

/** An allocation with the predecessor `previous`, or with none. */
function successor(
  script: string,
  number: number,
  previous: string,
  disk: { Sticky?: boolean; Migrate?: boolean },
): Assignment {
  const { Allocation, Job } = assignment(script, { number });
  const [group] = Job.TaskGroups;
  const EphemeralDisk = { ...group!.EphemeralDisk, ...disk };
  return {
    Allocation: { ...Allocation, PreviousAllocation: previous },
    Job: { ...Job, TaskGroups: [{ ...group!, EphemeralDisk }] },
  };
}

const pathOf = (number: number, name: string) => join(dataDirectory, 'alloc', id(number), name);
const leave =
  'echo shared > $ROSTER_ALLOC_DIR/data/s; mkdir $ROSTER_TASK_DIR/d; echo own > $ROSTER_TASK_DIR/d/o; ln -s d/o $ROSTER_TASK_DIR/l';
const look = 'cat $ROSTER_ALLOC_DIR/data/s $ROSTER_TASK_DIR/l; exec sleep 600';
const logOf = (number: number) => readFileSync(pathOf(number, 'alloc/logs/app.stdout.0'), 'utf8');
const eventsOf = (number: number) => servers.reports.get(id(number))?.TaskStates.app?.Events ?? [];

describe('on the same node', () => {
  test('data moves to the successor, which waits until its predecessor has ended', async () => {
    await start();
    const stubborn = `trap "echo late >> $ROSTER_ALLOC_DIR/data/s; exit" INT; ${leave}; echo up; while :; do sleep 0.02; done`;
    servers.assign([assignment(stubborn)]);
    await eventually(() => expect(logOf(1)).toBe('up\n'));
    servers.assign([
      assignment(stubborn, { desired: 'stop' }),
      successor(look, 2, id(1), { Sticky: true }),
    ]);
    await eventually(() => expect(logOf(2)).toBe('shared\nlate\nown\n'));
    expect(existsSync(pathOf(1, 'alloc/data/s'))).toBe(false);
    expect(notices).toEqual([]);
  });

  test.each([
    ['when it is not asked for', { Sticky: false }],
    ['when it is asked for and the predecessor was elsewhere', { Sticky: true }],
  ])('nothing is taken over %s', async (_name, disk) => {
    await start();
    servers.assign([successor('exec sleep 600', 2, id(1), disk)]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
    expect(notices).toEqual([]);
  });
});

describe('from another node', () => {
  /** The data on another machine. */
  function plant(): () => AsyncIterable<Uint8Array> {
    const root = join(dataDirectory, 'elsewhere');
    const directories = allocationDirectories(root, id(1));
    mkdirSync(join(directories.shared, 'data'), { recursive: true });
    mkdirSync(join(directories.root, 'app/local/d'), { recursive: true, mode: 0o700 });
    writeFileSync(join(directories.shared, 'data/s'), 'shared\n', { mode: 0o640 });
    writeFileSync(join(directories.shared, 'data/empty'), '');
    writeFileSync(join(directories.root, 'app/local/d/o'), 'own\n');
    writeFileSync(join(directories.root, 'app/local/d/large'), Buffer.alloc(3 << 20, 'x'));
    symlinkSync('d/o', join(directories.root, 'app/local/l'));
    symlinkSync('/etc/passwd', join(directories.root, 'app/local/away'));
    return () => packDisk(diskParts(directories, ['app', 'gone']), undefined);
  }

  test('data comes over the servers, with modes and links', async () => {
    await start();
    servers.snapshots.set(id(1), plant());
    servers.assign([successor(look, 2, id(1), { Migrate: true })]);
    await eventually(() => expect(logOf(2)).toBe('shared\nown\n'));
    expect(statSync(pathOf(2, 'alloc/data/s')).mode & 0o777).toBe(0o640);
    expect(statSync(pathOf(2, 'app/local/d/large')).size).toBe(3 << 20);
    expect(lstatSync(pathOf(2, 'app/local/away')).isSymbolicLink()).toBe(true);
    expect(readlinkSync(pathOf(2, 'app/local/away'))).toBe('/etc/passwd');
    expect(existsSync(pathOf(2, '.disk'))).toBe(false);
  });

  test('that breaks off is fetched again, and then the task starts without it, with an event', async () => {
    await start();
    let tries = 0;
    const whole = plant();
    servers.snapshots.set(id(1), async function* () {
      tries++;
      for await (const chunk of whole()) {
        yield chunk;
        if (chunk.length > 1000) throw new Error('the connection broke');
      }
    });
    servers.assign([successor('exec sleep 600', 2, id(1), { Migrate: true })]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('running'), 15_000);
    expect(tries).toBe(3);
    expect(existsSync(pathOf(2, 'alloc/data/s'))).toBe(false);
    const told = eventsOf(2).find(({ Type }) => Type === 'Task hook failed');
    expect(told!.DisplayMessage).toMatch(/could not be taken over: the connection broke/);
    expect(notices).toEqual([expect.stringContaining('the connection broke')]);
  });

  test('that no longer exists is not waited for', async () => {
    await start();
    servers.assign([successor('exec sleep 600', 2, id(1), { Sticky: true, Migrate: true })]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
    expect(notices).toEqual([expect.stringContaining('answered 404')]);
  });
});

test('a snapshot is given once the allocation is over', async () => {
  await start();
  const script = `${leave}; echo up; exec sleep 600`;
  servers.assign([assignment(script)]);
  await eventually(() => expect(logOf(1)).toBe('up\n'));
  let bytes = 0;
  const stream: ByteStream = servers.connection!.open('snapshot', { alloc_id: id(1) });
  const read = (async () => {
    for await (const chunk of stream) bytes += chunk.length;
  })();
  await eventually(() => expect(servers.heartbeats).toBeGreaterThanOrEqual(0));
  expect(bytes).toBe(0);
  servers.assign([assignment(script, { desired: 'stop' })]);
  await read;
  expect(bytes).toBeGreaterThan(1024);
  const none = servers.connection!.open('snapshot', { alloc_id: 'nobody' });
  await expect(none[Symbol.asyncIterator]().next()).rejects.toThrow(/is not on its node/);
});

describe('owners on the way to another node', needing(root), () => {
  const own = { uid: 1_700_000_001, gid: 1_700_000_001 };
  const heir = { uid: 1_700_000_002, gid: 1_700_000_002 };
  const nobody = { uid: 65_534, gid: 65_534 };
  const other = { uid: 4711, gid: 4711 };

  /** The owners after the move, by the name of the file. */
  async function carried(ownUser: SystemUser | undefined, to: SystemUser | undefined) {
    const from = join(dataDirectory, 'from');
    const into = join(dataDirectory, 'into');
    for (const path of [from, into]) mkdirSync(path, { recursive: true });
    for (const [name, { uid, gid }] of Object.entries({ own, nobody, other })) {
      writeFileSync(join(from, name), name);
      chownSync(join(from, name), uid, gid);
    }
    const packed = packDisk([{ path: from, name: 'd' }], ownUser);
    await unpackDisk(packed, into, { signal: new AbortController().signal, heir: to });
    return Object.fromEntries(
      ['own', 'nobody', 'other'].map((name) => [name, statSync(join(into, 'd', name)).uid]),
    );
  }

  test.each([
    ['the own user’s are the heir’s', own, heir, { own: heir.uid, nobody: 65_534, other: 4711 }],
    ['the own user’s are the agent’s without an heir', own, undefined, { own: 0, nobody: 65_534 }],
    ['the others keep theirs', undefined, heir, { nobody: 65_534, other: 4711 }],
  ])('%s', async (_name, ownUser, to, expected) => {
    expect(await carried(ownUser, to)).toMatchObject(expected);
  });

  test('files of nobody from an agent that gave no users go to the heir', async () => {
    const packing = pack();
    packing.entry({ name: 'd/file', ...nobody }, 'text');
    packing.finalize();
    const into = join(dataDirectory, 'into');
    mkdirSync(into);
    await unpackDisk(packing as AsyncIterable<Uint8Array>, into, {
      signal: new AbortController().signal,
      heir,
    });
    expect(statSync(join(into, 'd/file')).uid).toBe(heir.uid);
  });
});
