import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle, declareTypes } from '../tools/build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'roster-package-'));
const user = join(folder, 'user');
const roster = join(user, 'node_modules/.bin/roster');

/** Packs the published package from a copy, which leaves the checkout as it is, and installs it. */
beforeAll(async () => {
  const source = join(folder, 'source');
  for (const name of ['bin', 'examples', 'README.md', 'LICENSE', 'package.json']) {
    cpSync(join(root, name), join(source, name), { recursive: true });
  }
  await bundle(root, join(source, 'dist'));
  declareTypes(root, join(source, 'dist'));
  npm(source, 'pack', '--loglevel=error', '--pack-destination', folder);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  cpSync(join(root, '.npmrc'), join(user, '.npmrc'));
  writeFileSync(join(user, 'package.json'), '{"type":"module"}');
  npm(user, 'install', '--no-audit', '--no-fund', '--loglevel=error', join(folder, tarball));
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function npm(cwd: string, ...words: string[]): void {
  execFileSync('npm', words, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

test('the installed command runs', () => {
  expect(execFileSync(roster, ['version'], { encoding: 'utf8' })).toMatch(/\d+\.\d+\.\d+/);
});

test('the installed agent runs a job, with its threads and its supervisor', async () => {
  const data = join(folder, 'data');
  const args = ['agent', '--dev', '--http', '127.0.0.1:0', '--data-dir', data];
  const agent = spawn(roster, [...args, '--tasks-on-exit', 'stop'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines: string[] = [];
    for await (const line of createInterface(agent.stdout)) {
      lines.push(line);
      if (line.startsWith('Root token')) break;
    }
    const address = /http:\S+/.exec(lines[0]!)![0];
    const token = lines.at(-1)!.split(/\s+/).at(-1)!;
    const job = join(user, 'node_modules/roster/examples/web.json');
    const env = { ...process.env, ROSTER_ADDR: address, ROSTER_TOKEN: token };
    const told = execFileSync(roster, ['job', 'run', job], { env, encoding: 'utf8' });
    expect(told.match(/ running /g)).toHaveLength(3);
  } finally {
    agent.kill('SIGTERM');
    await once(agent, 'exit');
  }
}, 60_000);

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
