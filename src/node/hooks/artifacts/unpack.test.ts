// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the notation under test
/** Honest and malicious archives, fetched from files of this machine. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  createWriteStream,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { testAllocation } from '../../records.test-helper.ts';
import { dataDirectory, failure, filesIn, running, sources, start } from './harness.test-helper.ts';

/** A directory `tree/` in the sources: two files, a program and a link. */
function plantTree(): void {
  mkdirSync(join(sources, 'tree/bin'), { recursive: true });
  writeFileSync(join(sources, 'tree/a.txt'), 'one\n');
  writeFileSync(join(sources, 'tree/bin/run'), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync('../a.txt', join(sources, 'tree/bin/link'));
}

const run = (program: string, ...words: string[]) =>
  execFileSync(program, words, { cwd: sources, stdio: 'pipe' });

const source = (name: string) => `file://${sources}/${name}`;

describe('every format is unpacked', () => {
  test.each<[string, readonly string[]]>([
    ['t.tar', ['tar', '-cf', 't.tar', '-C', 'tree', '.']],
    ['t.tar.gz', ['tar', '-czf', 't.tar.gz', '-C', 'tree', '.']],
    ['t.tgz', ['tar', '-czf', 't.tgz', '-C', 'tree', 'a.txt', 'bin']],
    ['t.tar.bz2', ['tar', '-cjf', 't.tar.bz2', '-C', 'tree', '.']],
    ['t.tar.xz', ['tar', '-cJf', 't.tar.xz', '-C', 'tree', '.']],
    ['t.tar.zst', ['tar', '--zstd', '-cf', 't.tar.zst', '-C', 'tree', '.']],
    ['t.zip', ['sh', '-c', 'cd tree && zip -qry ../t.zip .']],
  ])('%s', async (name, [program, ...words]) => {
    plantTree();
    run(program!, ...words);
    const { root } = await running(await start([{ GetterSource: source(name) }]));
    const local = join(root, 'local');
    expect(filesIn(local)).toEqual(['a.txt', 'bin/', 'bin/link', 'bin/run']);
    expect(readFileSync(join(local, 'bin/link'), 'utf8')).toBe('one\n');
    expect(statSync(join(local, 'bin/run')).mode & 0o777).toBe(0o755);
  });

  test.each([
    ['t.gz', ['gzip', '-k']],
    ['t.bz2', ['bzip2', '-k']],
    ['t.xz', ['xz', '-k']],
    ['t.zst', ['zstd', '-qk']],
  ])('%s, a file alone', async (name, [program, ...words]) => {
    writeFileSync(join(sources, 't'), 'alone\n');
    run(program!, ...words, 't');
    const { root } = await running(await start([{ GetterSource: source(name) }]));
    expect(filesIn(join(root, 'local'))).toEqual(['t']);
    expect(readFileSync(join(root, 'local/t'), 'utf8')).toBe('alone\n');
  });
});

describe('artifacts come to their places', () => {
  const cases: readonly [string, object, readonly string[]][] = [
    ['an archive as it is', { GetterSource: 't.tar?archive=false' }, ['t.tar']],
    ['a part of it', { GetterSource: 't.tar//bin' }, ['run']],
    ['one file of it', { GetterSource: 't.tar//bin/run' }, ['run']],
    ['a directory', { GetterSource: 'tree' }, ['a.txt', 'bin/', 'bin/link', 'bin/run']],
    ['a file', { GetterSource: 'tree/a.txt' }, ['a.txt']],
    [
      'a file under a name',
      { GetterSource: 'tree/a.txt', GetterMode: 'file', RelativeDest: 'local/x/b' },
      ['x/', 'x/b'],
    ],
    [
      'a file into a directory',
      { GetterSource: 'tree/a.txt', GetterMode: 'file', RelativeDest: 'local/x/' },
      ['x/', 'x/a.txt'],
    ],
    ['a name of its own', { GetterSource: 'tree/a.txt?filename=b' }, ['b']],
  ];
  test.each(cases)('%s', async (_name, artifact, expected) => {
    plantTree();
    run('tar', '-cf', 't.tar', '-C', 'tree', 'a.txt', 'bin/run');
    const { GetterSource, ...others } = artifact as { GetterSource: string };
    const started = await start([{ GetterSource: source(GetterSource), ...others }]);
    const { root } = await running(started);
    expect(filesIn(join(root, 'local'))).toEqual(expected);
  });

  test('below the shared alloc/, and with references', async () => {
    plantTree();
    const started = await start(
      [
        {
          GetterSource: source('tree/a.txt'),
          RelativeDest: '${ROSTER_ALLOC_DIR}/data/${meta.colour}',
        },
        { GetterSource: source('tree/${meta.file}'), RelativeDest: 'alloc/data' },
      ],
      { task: { Env: { UNUSED: '' } } },
    );
    expect(await failure(started)).toMatch(/there is no ".*\/tree\/\${meta.file}" on this node/);
    const good = await running(
      await start([
        {
          GetterSource: source('tree/a.txt'),
          RelativeDest: '${ROSTER_ALLOC_DIR}/data/${meta.colour}',
        },
      ]),
    );
    expect(filesIn(join(good.shared, 'data'))).toEqual(['blue/', 'blue/a.txt']);
  });

  test('beside present files; the later of two with one name wins', async () => {
    mkdirSync(join(sources, 'one/d'), { recursive: true });
    mkdirSync(join(sources, 'two/d'), { recursive: true });
    writeFileSync(join(sources, 'one/d/a'), 'one');
    writeFileSync(join(sources, 'one/d/b'), 'one');
    writeFileSync(join(sources, 'two/d/b'), 'two');
    const { root } = await running(
      await start([{ GetterSource: source('one') }, { GetterSource: source('two') }]),
    );
    expect(filesIn(join(root, 'local/d'))).toEqual(['a', 'b']);
    expect(readFileSync(join(root, 'local/d/b'), 'utf8')).toBe('two');
  });

  test('owned by the task’s user with Chown', async () => {
    plantTree();
    run('tar', '-cf', 't.tar', '-C', 'tree', '.');
    const { root } = await running(
      await start([{ GetterSource: source('t.tar'), Chown: true, RelativeDest: 'local/in' }], {
        task: { User: 'nobody' },
      }),
    );
    const uid = Number(run('id', '-u', 'nobody'));
    for (const name of ['', 'a.txt', 'bin', 'bin/run']) {
      expect(statSync(join(root, 'local/in', name)).uid).toBe(uid);
    }
  });
});

/** A tar with malicious entries. */
async function plantTar(
  entries: readonly (readonly [Parameters<ReturnType<typeof pack>['entry']>[0], string?])[],
): Promise<void> {
  const packing = pack();
  for (const [header, content] of entries) packing.entry(header, content ?? '');
  packing.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of packing) chunks.push(chunk as Uint8Array);
  writeFileSync(join(sources, 'bad.tar'), Buffer.concat(chunks));
}

describe('malicious archives are refused, and leave nothing', () => {
  test.each<[string, Parameters<typeof plantTar>[0], RegExp]>([
    ['a name that leads out', [[{ name: '../out' }, 'x']], /"\.\.\/out", which leads out of it/],
    ['an absolute name', [[{ name: '/etc/out' }, 'x']], /the absolute name "\/etc\/out"/],
    [
      'a link that leads out',
      [[{ name: 'l', type: 'symlink', linkname: '../..' }]],
      /the link "l" leads out/,
    ],
    [
      'an absolute link',
      [[{ name: 'l', type: 'symlink', linkname: '/etc' }]],
      /the link "l" leads out/,
    ],
    [
      'a file behind a link',
      [[{ name: 'l', type: 'symlink', linkname: 'd' }], [{ name: 'l/file' }, 'x']],
      /in each other’s way/,
    ],
    [
      'a link behind a link',
      [
        [{ name: 'a/b', type: 'symlink', linkname: '..' }],
        [{ name: 'c', type: 'symlink', linkname: 'a/b/..' }],
      ],
      /the link "c" has "\.\." behind a name/,
    ],
    [
      'a hard link to a file of the machine',
      [[{ name: 'h', type: 'link', linkname: '/etc/passwd' }]],
      /absolute name/,
    ],
    [
      'a hard link to nothing',
      [[{ name: 'h', type: 'link', linkname: 'gone' }]],
      /a hard link to "gone"/,
    ],
    [
      'a device',
      [[{ name: 'dev', type: 'character-device', devmajor: 1, devminor: 3 }]],
      /a character-device/,
    ],
    ['a pipe', [[{ name: 'p', type: 'fifo' }]], /a fifo/],
  ])('%s', async (_name, entries, why) => {
    await plantTar([[{ name: 'good' }, 'x'], ...entries]);
    const started = await start([{ GetterSource: source('bad.tar') }]);
    expect(await failure(started)).toMatch(why);
    expect(started.events().map(({ Type }) => Type)).toEqual([
      'Received',
      'Task Setup',
      'Downloading Artifacts',
      'Failed Artifact Download',
      'Not Restarting',
    ]);
  });

  test('only the bits for reading, writing and executing are kept', async () => {
    await plantTar([
      [{ name: 'root', mode: 0o6755 }, 'x'],
      [{ name: 'h', type: 'link', linkname: 'root' }],
    ]);
    const { root } = await running(await start([{ GetterSource: source('bad.tar') }]));
    expect(statSync(join(root, 'local/root')).mode & 0o7777).toBe(0o755);
    expect(filesIn(join(root, 'local'))).toEqual(['h', 'root']);
  });

  test('a zip with a name that leads out, and one that is damaged', async () => {
    const python = `
import zipfile
z = zipfile.ZipFile('bad.zip', 'w'); z.writestr('../out', 'x'); z.close()`;
    run('python3', '-c', python);
    expect(await failure(await start([{ GetterSource: source('bad.zip') }]))).toMatch(
      /invalid relative path|leads out/,
    );
  });

  test.each([
    ['bad.tar.gz', 'no archive at all'],
    ['bad.zip', 'no archive at all'],
    ['bad.tar.xz', 'no archive at all'],
    ['bad.tar.bz2', 'no archive at all'],
    ['bad.tar.zst', 'no archive at all'],
    ['bad.gz', ''],
    ['cut.tar.gz', undefined],
  ])('%s is no archive', async (name, text) => {
    const whole = gzipSync(Buffer.alloc(100_000, 'some text'));
    writeFileSync(join(sources, name), text ?? whole.subarray(0, whole.length / 2));
    const why = await failure(await start([{ GetterSource: source(name) }]));
    expect(why).toMatch(/the archive cannot be read|failed: /);
  });
});

describe('archive bombs are stopped', () => {
  test.each([
    ['gzip', 'b.gz', 'gzip'],
    ['xz', 'b.xz', 'xz'],
    ['bzip2', 'b.bz2', 'bzip2'],
    ['zstd', 'b.zst', 'zstd'],
  ])('of %s', async (_name, file, program) => {
    run('sh', '-c', `head -c 80000000 /dev/zero | ${program} -c > ${file}`);
    const why = await failure(await start([{ GetterSource: source(file) }]));
    expect(why).toMatch(/unpacks to more than 200 times its \d+ bytes: it may be a bomb/);
  });

  test('by the bytes, and by the number of files', async () => {
    plantTree();
    run('tar', '-czf', 't.tgz', '-C', 'tree', '.');
    const one = start([{ GetterSource: source('t.tgz') }], { settings: { unpackedBytesMax: 5 } });
    expect(await failure(await one)).toMatch(/holds more than 5 bytes/);
    const two = start([{ GetterSource: source('t.tgz') }], { settings: { filesMax: 3 } });
    expect(await failure(await two)).toMatch(/holds more than 3 files/);
  });

  test('a large archive is unpacked with little memory', async () => {
    const packing = pack();
    const written = pipeline(packing as never, createWriteStream(join(sources, 'large.tar')));
    const block = Buffer.alloc(1 << 20, 'x');
    for (let number = 0; number < 150; number++) {
      await new Promise<void>((resolve) =>
        packing.entry({ name: `f${number}` }, block, () => resolve()),
      );
    }
    packing.finalize();
    await written;
    const before = process.memoryUsage.rss();
    const { root } = await running(await start([{ GetterSource: source('large.tar') }]));
    expect(filesIn(join(root, 'local'))).toHaveLength(150);
    expect(process.memoryUsage.rss() - before).toBeLessThan(120 << 20);
  });
});

test('links that other tasks left at the destination are not followed', async () => {
  plantTree();
  const data = join(dataDirectory, 'alloc', testAllocation().ID, 'alloc/data');
  mkdirSync(data, { recursive: true });
  mkdirSync(join(sources, 'outside'));
  writeFileSync(join(sources, 'victim'), 'unharmed');
  symlinkSync(join(sources, 'outside'), join(data, 'bin'));
  symlinkSync(join(sources, 'victim'), join(data, 'a.txt'));
  const into = (name: string) => ({ GetterSource: source(name), RelativeDest: 'alloc/data/' });
  const { shared } = await running(await start([into('tree/a.txt')], { directory: dataDirectory }));
  expect(lstatSync(join(shared, 'data/a.txt')).isFile()).toBe(true);
  expect(readFileSync(join(sources, 'victim'), 'utf8')).toBe('unharmed');
  const why = await failure(
    await start([{ ...into('tree/bin/run'), RelativeDest: 'alloc/data/bin/' }], {
      directory: dataDirectory,
    }),
  );
  expect(why).toMatch(/"bin" in the destination is no directory/);
  expect(filesIn(join(sources, 'outside'))).toEqual([]);
});

test.each([
  ['a file that only its owner may read', 'private', 0o600],
  ['a file in a directory that only its owner may enter', 'closed/file', 0o644],
])('%s is not given away', async (_name, name, modeBits) => {
  mkdirSync(join(sources, 'closed'), { mode: 0o700 });
  writeFileSync(join(sources, name), 'secret');
  chmodSync(join(sources, name), modeBits);
  symlinkSync(join(sources, name), join(sources, 'way'));
  for (const path of [name, 'way']) {
    const why = await failure(await start([{ GetterSource: source(path) }]));
    expect(why).toMatch(/nothing that every user of this node may read/);
  }
});
