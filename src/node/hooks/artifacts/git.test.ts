/** Artifacts from repositories. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failure, filesIn, running, serve, sources, start } from './harness.test-helper.ts';

const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
    cwd: join(sources, 'r'),
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

/** A repository of two commits, the first of which has the tag `v1`. */
function plantRepository(): void {
  mkdirSync(join(sources, 'r/sub'), { recursive: true });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(sources, 'r/file'), 'one');
  writeFileSync(join(sources, 'r/sub/inner'), 'inner');
  git('add', '.');
  git('commit', '-qm', 'one');
  git('tag', 'v1');
  writeFileSync(join(sources, 'r/file'), 'two');
  git('commit', '-qam', 'two');
}

const fetched = async (GetterSource: string, GetterOptions: Record<string, string> = {}) => {
  const { root } = await running(await start([{ GetterSource, GetterOptions }]));
  return join(root, 'local');
};

test('the newest state, a tag, a commit and a directory are fetched, without history', async () => {
  plantRepository();
  const repository = `git::file://${sources}/r`;
  const newest = await fetched(repository);
  expect(filesIn(newest)).toEqual(['file', 'sub/', 'sub/inner']);
  expect(readFileSync(join(newest, 'file'), 'utf8')).toBe('two');
  for (const ref of ['v1', git('rev-parse', 'v1')]) {
    expect(readFileSync(join(await fetched(repository, { ref }), 'file'), 'utf8')).toBe('one');
  }
  expect(filesIn(await fetched(`${repository}//sub?ref=main`))).toContain('inner');
});

test('over HTTP, with nothing of the agent’s environment', async () => {
  plantRepository();
  git('update-server-info');
  const seen: (string | undefined)[] = [];
  const address = await serve(({ url, headers }, response) => {
    seen.push(headers.authorization);
    try {
      response.end(
        readFileSync(join(sources, 'r/.git', url!.split('?')[0]!.replace('/x.git', ''))),
      );
    } catch {
      response.writeHead(404).end();
    }
  });
  // Such a server has no shallow answers.
  const local = await fetched(`${address}/x.git?ref=main`, { depth: '0' });
  expect(readFileSync(join(local, 'file'), 'utf8')).toBe('two');
  expect(seen.filter(Boolean)).toEqual([]);
});

test('a failure is reported, and leaves nothing', async () => {
  plantRepository();
  symlinkSync('/etc', join(sources, 'r/link'));
  git('add', '.');
  git('commit', '-qm', 'link');
  const repository = `git::file://${sources}/r`;
  const why = async (GetterSource: string, settings = {}) =>
    failure(await start([{ GetterSource }], { settings }));
  expect(await why(`${repository}?ref=gone`)).toMatch(/couldn't find remote ref gone/);
  expect(await why(repository)).toMatch(/the link "link" leads out/);
  expect(await why(`${repository}?ref=v1`, { filesMax: 1 })).toMatch(/more than 1 files/);
  expect(await why(`${repository}?ref=v1&checksum=md5:${'0'.repeat(32)}`)).toMatch(/of a file/);
  expect(await why('git::ext::sh -c true')).toMatch(/no URL|neither|not allowed|not supported/);
  chmodSync(join(sources, 'r'), 0o700);
  expect(await why(repository)).toMatch(/every user of this node may read/);
});

test('a server that hangs is given up', async () => {
  const address = await serve(() => {});
  const settings = { gitTimeoutMs: 300 };
  const secret = address.replace('//', '//user:secret@');
  const why = await failure(await start([{ GetterSource: `${secret}/x.git` }], { settings }));
  expect(why).toBe(
    `failed to fetch "${address}/x.git": the repository was not fetched within 0.3 s`,
  );
});
