/** bin/roster and `npm start`, run as they are, on a small program in a temporary checkout. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundleCheckout } from './checkout-bundle.ts';
import { freshBundle } from './fresh-bundle.cjs';
import { makeTree } from './tree.test-helper.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const pinned = `node-linux-${process.arch}`;

/** Prints its arguments, and leaves when told to; `wait` as an argument makes it stay till then. */
const program = `
process.on('SIGTERM', () => process.exit(41));
process.on('SIGINT', () => process.exit(42));
console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2) }));
if (process.argv.includes('wait')) setInterval(() => {}, 1000);
else process.exitCode = 7;
`;

/** A checkout, or the folder of an installed package, without its Node. */
function makePackage(files: Record<string, string>, folder = '.'): string {
  const root = join(makeTree({ README: '' }), folder);
  for (const path of [
    'bin/roster',
    'bin/compile-cache.cjs',
    'tools/checkout-bundle.mjs',
    'tools/fresh-bundle.cjs',
    'tools/start.mjs',
    'tools/setup.mjs',
  ]) {
    write(root, path, readFileSync(join(here, path), 'utf8'));
  }
  for (const [path, text] of Object.entries(files)) write(root, path, text);
  chmodSync(join(root, 'bin/roster'), 0o755);
  return root;
}

function write(root: string, path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text, { mode });
}

/** The Node of this checkout, where npm would put it. */
function addPinnedNode(folder: string): void {
  mkdirSync(join(folder, `node_modules/${pinned}/bin`), { recursive: true });
  symlinkSync(process.execPath, join(folder, `node_modules/${pinned}/bin/node`));
}

/** A folder for the PATH that has what the shell script uses, and `node` as given. */
function makePath(node?: string): string {
  const folder = makeTree({ README: '' });
  for (const name of ['uname', 'readlink']) symlinkSync(`/usr/bin/${name}`, join(folder, name));
  if (node !== undefined) write(folder, 'node', `#!/bin/sh\n${node}\n`, 0o755);
  return folder;
}

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<{ code: number | null; output: string }>;
}

function start(
  command: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; group?: boolean } = {},
): Running {
  const env = { ...process.env, npm_execpath: '', npm_lifecycle_event: undefined, ...options.env };
  const child = spawn(command, args, { env, detached: options.group === true });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  child.stderr.on('data', (data) => {
    output += data;
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const ended = once(child, 'close').then(([code]) => ({ code, output }));
  return { child, output: () => output, ended };
}

/** Resolves with the process number and arguments that the program printed. */
async function programOf(running: Running): Promise<{ pid: number; args: string[] }> {
  for await (const _ of running.child.stdout ?? []) {
    const line = running.output().match(/^\{.*\}$/m)?.[0];
    if (line !== undefined) return JSON.parse(line);
  }
  throw new Error(`the program never started: ${running.output()}`);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('bin/roster', () => {
  test('runs the source of a checkout and passes arguments and the exit code', async () => {
    const root = makePackage({ 'src/main.ts': `const typed: number = 1;\nvoid typed;${program}` });
    addPinnedNode(root);
    const { code, output } = await start(join(root, 'bin/roster'), ['job', 'a b', '']).ended;
    expect(JSON.parse(output).args).toEqual(['job', 'a b', '']);
    expect(code).toBe(7);
  });

  test('runs the bundle of an installed package, through links, with Node hoisted', async () => {
    const root = makePackage({ 'dist/main.js': program }, 'app/node_modules/roster');
    const app = dirname(dirname(root));
    addPinnedNode(app);
    mkdirSync(join(app, 'node_modules/.bin'));
    symlinkSync('../roster/bin/roster', join(app, 'node_modules/.bin/roster'));
    symlinkSync(join(app, 'node_modules/.bin/roster'), join(app, 'command'));
    const env = { PATH: makePath() };
    const { code, output } = await start(join(app, 'command'), ['version'], { env }).ended;
    expect(output).toContain('"args":["version"]');
    expect(code).toBe(7);
  });

  test('becomes the program: a signal to it is a signal to the program', async () => {
    const root = makePackage({ 'src/main.ts': program });
    addPinnedNode(root);
    const running = start(join(root, 'bin/roster'), ['wait']);
    expect((await programOf(running)).pid).toBe(running.child.pid);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(41);
  });

  test('takes the Node of the system where the pinned one is absent', async () => {
    const root = makePackage({ 'src/main.ts': program });
    const env = { PATH: makePath(`exec '${process.execPath}' "$@"`) };
    expect((await start(join(root, 'bin/roster'), [], { env }).ended).code).toBe(7);
  });

  test.each<[what: string, files: Record<string, string>, node: string | undefined, word: RegExp]>([
    [
      'no Node',
      { 'src/main.ts': '' },
      undefined,
      /Node 22\.18 or later is needed and none was found/,
    ],
    [
      'a Node that is too old',
      { 'src/main.ts': '' },
      'case $1 in --version) echo v20.1.0 ;; *) exit 1 ;; esac',
      /Node 22\.18 or later is needed, and \S+ is v20\.1\.0/,
    ],
    ['no program', {}, 'exit 0', /neither src\/main\.ts nor dist\/main\.js is in/],
  ])('says what is wrong: %s', async (_, files, node, word) => {
    const root = makePackage(files);
    const env = { PATH: makePath(node) };
    const { code, output } = await start(join(root, 'bin/roster'), [], { env }).ended;
    expect(output).toMatch(word);
    expect(code).toBe(1);
  });
});

/** Stands in for npm: notes that it ran, and installs the Node of this checkout. */
const npm = `echo "npm $*" >> npm.log
rm -rf node_modules && mkdir -p node_modules/${pinned}/bin
ln -s '${process.execPath}' node_modules/${pinned}/bin/node`;

function makeCheckout(npmScript = npm): { root: string; env: NodeJS.ProcessEnv } {
  const root = makePackage({ 'src/main.ts': program, 'package-lock.json': '{}' });
  const folder = makeTree({ README: '' });
  write(folder, 'npm', `#!/bin/sh\n${npmScript}\n`, 0o755);
  return { root, env: { PATH: `${folder}:${process.env.PATH}` } };
}

const startIn = (root: string, args: string[], options = {}) =>
  start(process.execPath, [join(root, 'tools/start.mjs'), ...args], options);
const installsOf = (root: string) =>
  existsSync(join(root, 'npm.log'))
    ? readFileSync(join(root, 'npm.log'), 'utf8').split('\n').length - 1
    : 0;

describe('npm start', () => {
  test('installs at the first start and when the lock file changed, not in between', async () => {
    const { root, env } = makeCheckout();
    const installs: number[] = [];
    for (const lock of ['{}', '{}', '{"changed":true}', '{"changed":true}']) {
      write(root, 'package-lock.json', lock);
      expect((await startIn(root, [], { env }).ended).code).toBe(7);
      installs.push(installsOf(root));
    }
    expect(installs).toEqual([1, 1, 2, 2]);
  });

  test('installs again after an install that was cut off', async () => {
    const { root, env } = makeCheckout();
    await startIn(root, [], { env }).ended;
    // As `npm ci` leaves it when it is ended in the middle, with its holder gone.
    write(root, 'node_modules/.installed-from', '');
    symlinkSync('999999999', join(root, '.installing'));
    expect((await startIn(root, [], { env }).ended).code).toBe(7);
    expect(installsOf(root)).toBe(2);
  });

  test('two at once install once', async () => {
    const { root, env } = makeCheckout(`sleep 0.5\n${npm}`);
    const both = [startIn(root, [], { env }), startIn(root, [], { env })];
    const codes = await Promise.all(both.map(async ({ ended }) => (await ended).code));
    expect({ codes, installs: installsOf(root) }).toEqual({ codes: [7, 7], installs: 1 });
  });

  test('says when the install failed, and starts nothing', async () => {
    const { root, env } = makeCheckout('exit 9');
    const { code, output } = await startIn(root, [], { env }).ended;
    expect(output).toContain('npm ci failed with exit code 9; nothing was started.');
    expect(output).not.toContain('"args"');
    expect(code).toBe(9);
  });

  test('runs the bundle of a checkout until one of its files is written, as bin/roster does', async () => {
    const { root, env } = makeCheckout();
    const files = {
      'package.json': '{"type":"module"}',
      'tsconfig.json': '{}',
      'tools/build.ts': '',
      'tools/checkout-bundle.ts': '',
      'src/main.ts': `import './told.ts';${program}`,
      'src/told.ts': `console.log(import.meta.url.endsWith('.ts') ? 'source' : 'bundle');`,
    };
    const writtenMs = Date.now();
    for (const [path, text] of Object.entries(files)) write(root, path, text);
    const ran = async () => {
      const runs = [startIn(root, [], { env }), start(join(root, 'bin/roster'), [], { env })];
      const outputs = await Promise.all(runs.map(async ({ ended }) => (await ended).output));
      return outputs.map((output) => /source|bundle/.exec(output)?.[0]).join(' ');
    };
    const told = [await ran()];
    // Files that are written as the bundle begins may have changed after they were read.
    await bundleCheckout(root, writtenMs);
    told.push(await ran());
    const later = () => bundleCheckout(root, Date.now() + 60_000);
    await later();
    told.push(await ran());
    expect(statSync(freshBundle(root)!).mode & 0o777).toBe(0o755);
    for (const path of Object.keys(files)) {
      await later();
      // Even with the text that it had.
      write(root, path, files[path as keyof typeof files]);
      told.push(await ran());
    }
    const [source, bundled] = ['source source', 'bundle bundle'];
    expect(told).toEqual([source, source, bundled, ...Object.keys(files).map(() => source)]);
  });

  test('hands the agent its arguments, those of the user last', async () => {
    const { root, env } = makeCheckout();
    const places = { ...env, ROSTER_HTTP: '127.0.0.1:1', ROSTER_DATA_DIR: 'there', INIT_CWD: '/x' };
    const usual = (await startIn(root, ['--node-name', 'n1'], { env }).ended).output;
    const moved = (await startIn(root, [], { env: places }).ended).output;
    const example = ['--run', join(root, 'examples/web.json')];
    const agent = ['agent', '--dev', '--data-dir'];
    const stop = ['--tasks-on-exit', 'stop'];
    expect(JSON.parse(usual.split('\n').at(-2) ?? '').args).toEqual([
      ...agent,
      join(root, 'data'),
      ...stop,
      ...example,
      '--node-name',
      'n1',
    ]);
    expect(JSON.parse(moved.split('\n').at(-2) ?? '').args).toEqual([
      ...agent,
      '/x/there',
      ...stop,
      '--http',
      '127.0.0.1:1',
      ...example,
    ]);
  });

  test.each<[what: string, signal: NodeJS.Signals, toGroup: boolean, exitCode: number]>([
    ['Ctrl-C, which the whole process group gets', 'SIGINT', true, 42],
    ['SIGINT to the script alone', 'SIGINT', false, 42],
    ['SIGTERM to the script alone', 'SIGTERM', false, 41],
    ['SIGTERM to the group', 'SIGTERM', true, 41],
  ])('%s ends everything', async (_, signal, toGroup, exitCode) => {
    const { root, env } = makeCheckout();
    const running = startIn(root, ['wait'], { env, group: true });
    const { pid } = await programOf(running);
    const script = running.child.pid ?? 0;
    process.kill(toGroup ? -script : script, signal);
    expect((await running.ended).code).toBe(exitCode);
    expect(isAlive(pid)).toBe(false);
  });

  test('an npm that is killed takes everything along', async () => {
    const { root, env } = makeCheckout();
    const shell = `'${process.execPath}' tools/start.mjs wait & wait`;
    const running = start('/bin/sh', ['-c', `cd '${root}' && ${shell}`], {
      env: { ...env, npm_lifecycle_event: 'start' },
    });
    const { pid } = await programOf(running);
    running.child.kill('SIGKILL');
    // Its output closes when the last process that could write to it is gone.
    await running.ended;
    expect(isAlive(pid)).toBe(false);
  });
});
