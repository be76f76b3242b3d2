/** The package for npm: packed in a clean checkout, installed as docs/operations/install.md says, and used. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Need, needing } from '../src/base/not-run.test-helper.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const guide = readFileSync(join(root, 'docs/operations/install.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'roster-package-'));
/** Where `npm install -g` puts packages and commands. */
const prefix = join(folder, 'global');
const roster = join(prefix, 'bin/roster');
const installed = join(prefix, 'lib/node_modules/roster');
/** A project of a user, whose packages are those that are installed. */
const user = join(folder, 'user');

/** The first Node of the PATH or of the system that is as old as package.json allows. */
const oldNode = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  .map((place) => join(place, 'node'))
  .find((node) => {
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    return stdout?.startsWith('v20.');
  });
const hasOldNode: Need = {
  isMet: oldNode !== undefined,
  otherwise: 'they need Node 20 on the PATH or in /usr/bin',
};

/** Packs a copy of the checkout, in which nothing is built, and installs the package. */
beforeAll(async () => {
  const source = join(folder, 'source');
  const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root });
  const needed = /^(bin|docs|examples|src|tools|ui|[^/]+$)/;
  for (const name of tracked.toString().split('\n').filter(Boolean)) {
    if (needed.test(name) && existsSync(join(root, name))) {
      cpSync(join(root, name), join(source, name));
    }
  }
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
  npm(source, 'pack', '--loglevel=error', '--pack-destination', folder);
  const [install] = /^npm install -g .+$/m.exec(guide)!;
  const [, ...words] = install.replace('release/', `${folder}/`).split(' ');
  const told = npm(folder, ...words, '--ignore-scripts');
  // Not a warning: the package and all that comes along allow the oldest Node of `engines`.
  expect(told).toBe('');
  mkdirSync(join(user, 'node_modules'), { recursive: true });
  symlinkSync(installed, join(user, 'node_modules/roster'));
  writeFileSync(join(user, 'package.json'), '{"type":"module"}');
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs npm in the oldest Node that is here, and returns what it says beside its output. */
function npm(cwd: string, ...words: string[]): string {
  const PATH = `${oldNode === undefined ? '' : `${dirname(oldNode)}:`}${process.env.PATH}`;
  const env = { ...process.env, PATH, npm_config_prefix: prefix };
  const { status, stderr } = spawnSync('npm', words, { cwd, env, encoding: 'utf8' });
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
  return stderr;
}

test('the installed command runs where there is no Node, and names its build', () => {
  const path = join(folder, 'path');
  mkdirSync(path);
  for (const name of ['uname', 'readlink']) symlinkSync(`/usr/bin/${name}`, join(path, name));
  const words = ['version', '-json'];
  const told = JSON.parse(execFileSync(roster, words, { env: { PATH: path }, encoding: 'utf8' }));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const platform = `${process.platform}-${process.arch}`;
  // The copy that was packed is no repository, so there is no commit to name.
  const expected = {
    Version: version,
    Commit: '',
    Node: process.versions.node,
    Platform: platform,
  };
  expect(told).toMatchObject(expected);
});

interface Started {
  /** All that it has printed until it was ready. */
  readonly told: string;
  readonly address: string;
  readonly token: string;
}

/** Starts the installed agent beside a container runtime, which loads its client, and ends it afterwards. */
async function withAgent(use: (agent: Started) => void): Promise<void> {
  const socket = join(folder, 'docker.sock');
  const runtime = createServer((_request, response) => response.writeHead(404).end('{}'));
  await once(runtime.listen(socket), 'listening');
  const data = mkdtempSync(join(folder, 'data-'));
  const threads = ['--readers', '1', '--decider=true'];
  const args = ['agent', '--dev', '--http', '127.0.0.1:0', '--data-dir', data, ...threads];
  const agent = spawn(roster, [...args, '--tasks-on-exit', 'stop'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DOCKER_HOST: `unix://${socket}` },
  });
  try {
    let told = '';
    for await (const line of createInterface(agent.stdout)) {
      told += `${line}\n`;
      if (line.startsWith('Ctrl-C')) break;
    }
    const address = /http:\S+/.exec(told)![0];
    use({ told, address, token: /^Root token +(\S+)$/m.exec(told)![1]! });
  } finally {
    agent.kill('SIGTERM');
    await once(agent, 'exit');
    runtime.close();
  }
}

test(
  'the installed agent runs a job, with its threads and its supervisor',
  () =>
    withAgent(({ told, address, token }) => {
      // It names nothing that only a checkout has.
      expect(told).not.toMatch(/bin\/roster|examples\//);
      const steps = guide.split('\n## Debian package')[0]!.match(/^roster job .+$/gm)!;
      const PATH = `${dirname(roster)}:${process.env.PATH}`;
      const inShell = (script: string) =>
        execFileSync('sh', ['-e', '-c', script], {
          cwd: folder,
          env: { ...process.env, PATH, ROSTER_ADDR: address, ROSTER_TOKEN: token },
          encoding: 'utf8',
          timeout: 50_000,
        });
      expect(inShell(steps.join('\n')).match(/ running /g)).toHaveLength(2);
      // The decider may load the state until now.
      const decided =
        "roster operator api '/v1/metrics?format=prometheus' | grep '^roster_decider_decisions_total [1-9]'";
      inShell(`until ${decided}; do roster job eval -detach example; done`);
    }),
  60_000,
);

test('the installed agent shows the web interface, packed and with the licences of its packages', () =>
  withAgent(({ address }) => {
    const get = (path: string, ...words: string[]) =>
      execFileSync('curl', ['-sf', ...words, `${address}/ui/${path}`], { encoding: 'utf8' });
    const page = get('jobs/default/web');
    expect(page).toContain('<base href="../../">');
    const [code] = /assets\/[^"]+\.js/.exec(page)!;
    expect(get(code, '-I', '-H', 'accept-encoding: br')).toMatch(/^content-encoding: br\r$/m);
    expect(get('notices.md')).toMatch(/^## svelte - /m);
  }));

test('the library and the client are imported, with their types', () => {
  const program = `
import { createAgent, type Agent } from 'roster';
import { createClient, type Client } from 'roster/sdk';
const agent: Agent = await createAgent({ http: { host: '127.0.0.1', port: 0 } });
const client: Client = createClient({ address: agent.address });
const health = await client.agent.health();
console.log(health.value);
await client.close();
await agent.close('stop');
`;
  writeFileSync(join(user, 'program.mts'), program);
  const tsc = join(root, 'node_modules/ts7/bin/tsc');
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  const flags = ['--module', 'nodenext', '--target', 'es2024', '--strict', '--noEmit'];
  execFileSync(process.execPath, [tsc, ...flags, ...types, '--skipLibCheck', 'program.mts'], {
    cwd: user,
    stdio: 'inherit',
  });
  const output = execFileSync(process.execPath, ['program.mts'], { cwd: user, encoding: 'utf8' });
  expect(output).toMatch(/ok/);
}, 60_000);

/** Uses the client in every way: requests, a blocking query, a stream, a terminal, a choice of servers. */
const clientProgram = `
import { createClient, waitFor } from 'roster/sdk';
const [address, token] = process.argv.slice(2);
const client = createClient({ address: [address, address.replace('127.0.0.1', 'localhost')], token });
const Config = { command: '/bin/sh', args: ['-c', 'echo begun; exec sleep 600'] };
const Tasks = [{ Name: 'main', Driver: 'raw_exec', Config }];
await client.jobs.register({ Job: { ID: 'sleeper', TaskGroups: [{ Name: 'main', Tasks }] } });
const [{ ID: allocation }] = await waitFor(
  (options) => client.jobs.allocations('sleeper', options),
  (list) => list.some(({ ClientStatus }) => ClientStatus === 'running'),
);
let text = '';
for await (const bytes of client.logs.read({ allocation, task: 'main', follow: true })) {
  text += Buffer.from(bytes);
  if (text.endsWith('\\n')) break;
}
const command = ['echo', 'in a terminal'];
const session = await client.exec.run({ allocation, command, tty: true });
for await (const { data } of session.output) text += Buffer.from(data);
console.log(JSON.stringify([text, await session.exited]));
await client.jobs.stop('sleeper');
await client.close();
`;

test('the client runs in the oldest Node of the package', needing(hasOldNode), () =>
  withAgent(({ address, token }) => {
    writeFileSync(join(user, 'client.mjs'), clientProgram);
    const words = ['client.mjs', address, token];
    const output = execFileSync(oldNode!, words, { cwd: user, encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual(['begun\nin a terminal\r\n', { exitCode: 0 }]);
  }),
);

test.each(['{}', "{ network: 'none', clock: 'virtual' }"])(
  'createAgent(%s) in too old a Node is refused in words',
  needing(hasOldNode),
  (options) => {
    const program = `
import { createAgent } from 'roster';
await createAgent(${options}).catch(({ message }) => console.log(message));
`;
    writeFileSync(join(user, 'old.mjs'), program);
    const output = execFileSync(oldNode!, ['old.mjs'], { cwd: user, encoding: 'utf8' });
    expect(output).toMatch(/^createAgent needs Node 22\.18 or later, and this is 20\.[^\n]+\n$/);
  },
);
