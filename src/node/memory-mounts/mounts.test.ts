/** Directories in memory, with real agents: they are mounted, bounded and unmounted. */
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needing } from '../../base/not-run.test-helper.ts';
import {
  assignment,
  dataDirectory,
  id,
  running,
  servers,
  startAgent,
} from '../agents.test-helper.ts';
import { eventually } from '../eventually.test-helper.ts';
import { mounting } from '../needs.test-helper.ts';
import type { NodeAgent } from '../node-agent.ts';
import { findMemoryMounts } from './mounts.ts';

const mounted = () =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${dataDirectory}/`))
    .map((path) => path.slice(dataDirectory.length + 1))
    .sort();

const secretsOf = (number: number) => [
  `alloc/${id(number)}/app/private`,
  `alloc/${id(number)}/app/secrets`,
];
const start = (): Promise<NodeAgent> => startAgent({ secretsInMemory: true });
const mayMount = await mounting();

describe('secrets in memory', needing(mayMount), () => {
  test('are there for a task, with the size that it asks for, and removed after it', async () => {
    const agent = await start();
    const [asked] = [assignment('echo key > $ROSTER_SECRETS_DIR/key; exec sleep 600')];
    const Tasks = asked!.Job.TaskGroups[0]!.Tasks.map((task) => ({
      ...task,
      Resources: { ...task.Resources, SecretsMB: 3 },
    }));
    const TaskGroups = [{ ...asked!.Job.TaskGroups[0]!, Tasks }];
    servers.assign([{ ...asked!, Job: { ...asked!.Job, TaskGroups } }]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    expect(servers.node!.Attributes['storage.secrets']).toBe('memory');
    expect(mounted()).toEqual(secretsOf(1));
    const secrets = join(dataDirectory, secretsOf(1)[1]!);
    await eventually(() => expect(readFileSync(join(secrets, 'key'), 'utf8')).toBe('key\n'));
    const { bsize, blocks } = statfsSync(secrets);
    expect([bsize * blocks, statSync(secrets).mode & 0o777]).toEqual([3 << 20, 0o700]);
    servers.assign([assignment('', { desired: 'stop' })]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
    await eventually(() => expect(mounted()).toEqual([]));
    expect(existsSync(join(secrets, 'key'))).toBe(false);
    void agent;
  });

  test('stay while the task runs without an agent; an agent that ends with its tasks unmounts all', async () => {
    const first = await start();
    servers.assign([assignment('echo key > $ROSTER_SECRETS_DIR/key; exec sleep 600')]);
    const key = join(dataDirectory, secretsOf(1)[1]!, 'key');
    await eventually(() => expect(readFileSync(key, 'utf8')).toBe('key\n'));
    await first.stop({ stopTasks: false });
    expect(mounted()).toEqual(secretsOf(1));
    const second = await start();
    expect(readFileSync(key, 'utf8')).toBe('key\n');
    expect(mounted()).toEqual(secretsOf(1));
    await second.stop({ stopTasks: true });
    expect(mounted()).toEqual([]);
    await start();
    await eventually(() => expect(readFileSync(key, 'utf8')).toBe('key\n'));
  });

  test('of a killed agent are removed by the next one', async () => {
    const program = new URL('../agent-process.test-helper.ts', import.meta.url).pathname;
    const given = {
      dataDirectory,
      secretsInMemory: true,
      assignments: [assignment('exec sleep 600')],
    };
    const child = spawn(process.execPath, [program, JSON.stringify(given)], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // The state is on disk by then.
    await eventually(() => expect(running()).toHaveLength(1));
    expect(mounted()).toEqual(secretsOf(1));
    child.kill('SIGKILL');
    await eventually(() => expect(child.signalCode).toBe('SIGKILL'));
    // A mount of an unknown allocation.
    const { mounts } = await findMemoryMounts(dataDirectory);
    const path = join(dataDirectory, `alloc/${id(7)}/app/secrets`);
    mkdirSync(path, { recursive: true });
    await mounts!.mount([{ path, sizeMb: 1, uid: 0, gid: 0 }]);
    await mounts!.close();
    servers.assign([assignment('exec sleep 600')]);
    await start();
    expect(mounted()).toEqual(secretsOf(1));
    servers.assign([]);
    await eventually(() => expect(mounted()).toEqual([]));
  });

  test('are found below a data directory that is a link', async () => {
    const link = join(dataDirectory, 'link');
    mkdirSync(join(dataDirectory, 'real/a b'), { recursive: true });
    symlinkSync('real', link);
    const { mounts } = await findMemoryMounts(link);
    const path = join(link, 'a b');
    await mounts!.mount([{ path, sizeMb: 1, uid: 0, gid: 0 }]);
    await mounts!.mount([{ path, sizeMb: 1, uid: 0, gid: 0 }]);
    expect(await mounts!.mounted()).toEqual([path]);
    await mounts!.unmount([link]);
    expect(await mounts!.mounted()).toEqual([]);
    await mounts!.close();
  });

  test('are mounted and unmounted together, and a failure keeps no other', async () => {
    const { mounts } = await findMemoryMounts(dataDirectory);
    const paths = Array.from({ length: 30 }, (_, at) => join(dataDirectory, `it's # ${at}`));
    for (const path of paths.slice(1)) mkdirSync(path);
    const wanted = paths.map((path) => [{ path, sizeMb: 1, uid: 0, gid: 0 }]);
    const outcomes = await Promise.allSettled(wanted.map((mount) => mounts!.mount(mount)));
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [String(outcome.reason)] : [],
    );
    expect(refused).toEqual([expect.stringMatching(/0.*(does not exist|No such file)/)]);
    expect((await mounts!.mounted()).toSorted()).toEqual(paths.slice(1).toSorted());
    // Present mounts stay, and nothing else is touched.
    await Promise.all(wanted.slice(1).map((mount) => mounts!.mount(mount)));
    await Promise.all(paths.slice(2).map((path) => mounts!.unmount([path])));
    expect(await mounts!.mounted()).toEqual([paths[1]]);
    await mounts!.unmount([dataDirectory]);
    expect(await mounts!.mounted()).toEqual([]);
    await mounts!.close();
  });

  test('are unmounted together with a directory that is in use, which its user keeps', async () => {
    const { mounts } = await findMemoryMounts(dataDirectory);
    const paths = ['busy', 'calm'].map((name) => join(dataDirectory, name));
    for (const path of paths) mkdirSync(path);
    await mounts!.mount(paths.map((path) => ({ path, sizeMb: 1, uid: 0, gid: 0 })));
    const file = openSync(join(paths[0]!, 'file'), 'w+');
    try {
      await mounts!.unmount([dataDirectory]);
      expect(await mounts!.mounted()).toEqual([]);
      expect(existsSync(join(paths[0]!, 'file'))).toBe(false);
      expect(writeSync(file, 'kept')).toBe(4);
    } finally {
      closeSync(file);
    }
    await mounts!.close();
  });

  test('are mounted one by one on a full disk, and once although one of them fails', async () => {
    const { mounts } = await findMemoryMounts(dataDirectory);
    const list = join(dataDirectory, 'mount-list');
    rmSync(list);
    // The list cannot be written any more.
    mkdirSync(list);
    const paths = ['a', 'b', 'missing'].map((name) => join(dataDirectory, name));
    for (const path of paths.slice(0, 2)) mkdirSync(path);
    const outcomes = await Promise.allSettled(
      paths.map((path) => mounts!.mount([{ path, sizeMb: 1, uid: 0, gid: 0, isNew: true }])),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect((await mounts!.mounted()).toSorted()).toEqual(paths.slice(0, 2));
    await mounts!.unmount([dataDirectory]);
    await mounts!.close();
  });
});

test('a machine that cannot mount reports that, and keeps secrets on its disk', async () => {
  const found = await findMemoryMounts(join(dataDirectory, 'no\0where'));
  expect(found).toEqual({ reason: expect.stringMatching(/null bytes/) });
  await startAgent();
  servers.assign([assignment('exec sleep 600')]);
  await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
  expect(servers.node!.Attributes['storage.secrets']).toBe('disk');
  const secrets = join(dataDirectory, secretsOf(1)[1]!);
  expect(statSync(secrets).mode & 0o777).toBe(0o700);
});
