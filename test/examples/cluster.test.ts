/** The files of examples/cluster/: what the agent, systemd and compose make of them. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Need, needing } from '../../src/base/not-run.test-helper.ts';
import type { AgentOptions } from '../../src/cli/agent/options.ts';
import { run } from '../../src/cli/harness.test-helper.ts';

const folder = fileURLToPath(new URL('../../examples/cluster/', import.meta.url));
const bin = fileURLToPath(new URL('../../bin/roster', import.meta.url));
const read = (...names: readonly string[]): string => readFileSync(join(folder, ...names), 'utf8');

/** The options of an agent that is started with these words, and a configuration file of the example. */
async function optionsOf(words: readonly string[], ...file: readonly string[]) {
  const [config = ''] = words.filter((word) => word.endsWith('.json'));
  const ran = await run(words, { files: { [config]: read(...file) } });
  expect(ran.stderr).toBe('');
  return ran.agent!;
}

function expectServer({ mode, etcd, rootKeyFile, http }: AgentOptions, advertise: string): void {
  expect([mode, etcd?.endpoints.length, etcd?.advertise]).toEqual(['server', 3, advertise]);
  expect([rootKeyFile === undefined, http.host]).toEqual([false, '0.0.0.0']);
}

function expectNode({ mode, servers, dataDirectory }: AgentOptions): void {
  expect([mode, dataDirectory]).toEqual(['node', '/var/lib/roster']);
  expect(servers.introductionTokenFile).toContain('introduction-token');
}

const unit = (kind: string): string => read('systemd', `roster-${kind}.service`);

/** The words after the program. */
const startOf = (text: string): string[] =>
  /^ExecStart=\/usr\/local\/bin\/roster (.+)$/m.exec(text)![1]!.replaceAll('%H', 'm1').split(' ');

test('the units start a server and a node with the configuration beside them', async () => {
  const server = await optionsOf(startOf(unit('server')), 'systemd', 'server.json');
  expectServer(server, 'm1:4720');
  expect([server.tls === undefined, server.etcd?.usesTls]).toEqual([false, true]);
  const node = await optionsOf(startOf(unit('node')), 'systemd', 'node.json');
  expectNode(node);
  expect([node.tasksOnExit, node.servers.addresses]).toEqual([
    'keep',
    ['https://roster.example:4720'],
  ]);
});

const systemd: Need = {
  isMet: spawnSync('systemd-analyze', ['--version']).status === 0,
  otherwise: 'they need the program systemd-analyze',
};

test.each(['server', 'node'])('systemd takes the unit of a %s', needing(systemd), (kind) => {
  const directory = mkdtempSync(join(tmpdir(), 'units-'));
  try {
    const path = join(directory, `roster-${kind}.service`);
    writeFileSync(path, unit(kind).replace('/usr/local/bin/roster', bin));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: readonly string[];
  readonly volumes: readonly string[];
  readonly secrets?: readonly string[];
}

test('compose has three members of etcd, three servers and two nodes that find each other', async () => {
  const { services, secrets, volumes } = parse(read('compose', 'compose.yaml'), {
    merge: true,
  }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly secrets: object;
    readonly volumes: object;
  };
  const names = Object.keys(services);
  const wanted = 'etcd-1 etcd-2 etcd-3 server-1 server-2 server-3 node-1 node-2';
  expect(names.join(' ')).toBe(wanted);
  const known = new Set(names);
  for (const [name, service] of Object.entries(services)) {
    expect(service.depends_on?.filter((other) => !known.has(other)) ?? []).toEqual([]);
    expect(service.secrets?.filter((secret) => !Object.hasOwn(secrets, secret)) ?? []).toEqual([]);
    for (const volume of service.volumes) {
      const [from = ''] = volume.split(':');
      const isThere = Object.hasOwn(volumes, from) || existsSync(join(folder, 'compose', from));
      expect([volume, isThere]).toEqual([volume, true]);
    }
    const { ETCD_NAME, ETCD_INITIAL_CLUSTER } = service.environment ?? {};
    if (name.startsWith('etcd')) {
      expect([ETCD_NAME, ETCD_INITIAL_CLUSTER?.split(',').length]).toEqual([name, 3]);
      continue;
    }
    const [program, ...words] = service.command!;
    expect(program).toBe('/opt/roster/bin/roster');
    const kind = name.startsWith('server') ? 'server' : 'node';
    const options = await optionsOf(words, 'compose', `${kind}.json`);
    expect(options.node.name).toBe(name);
    if (kind === 'server') expectServer(options, `${name}:4720`);
    else expectNode(options);
    const hosts = [
      ...(options.etcd?.endpoints ?? []),
      ...options.servers.addresses.map((address) => new URL(address).host),
    ].map((address) => address.split(':')[0]);
    expect(hosts.filter((host) => !known.has(host!))).toEqual([]);
  }
});

test('each file of the example is mentioned in its guide', () => {
  const guide = read('README.md');
  for (const kind of ['systemd', 'compose']) {
    for (const name of readdirSync(join(folder, kind))) expect(guide).toContain(name);
  }
});
