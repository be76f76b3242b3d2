/** `roster operator debug` with real agents. Source: docs/operations/diagnosis.md. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { afterAll, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import {
  type Agent,
  command,
  endAgents,
  eventually,
  launch,
  newDirectory,
  startAgent,
} from '../support/agent.ts';
import { EtcdCluster, etcdServer } from '../support/etcd.ts';
import { job, shell } from '../support/jobs.ts';
import { TestKeyService } from '../support/key-service.ts';

const kms = new TestKeyService();
afterAll(async () => {
  await endAgents();
  await kms.stop();
});

type Files = ReadonlyMap<string, string>;

/** The files of an archive, without their common directory. */
async function filesIn(path: string): Promise<Files> {
  const files = new Map<string, string>();
  const reader = extract();
  reader.end(gunzipSync(readFileSync(path)));
  for await (const entry of reader) {
    const parts: Uint8Array[] = [];
    for await (const part of entry) parts.push(part as Uint8Array);
    files.set(
      entry.header.name.replace(/^roster-debug-[^/]*\//, ''),
      Buffer.concat(parts).toString(),
    );
  }
  return files;
}

/** The files that have a secret, as it is or in an encoding. */
const filesWith = (files: Files, secret: string): string[] => {
  const bytes = Buffer.from(secret);
  const forms = [secret, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('hex')];
  return [...files].flatMap(([name, text]) =>
    forms.some((form) => text.includes(form)) ? [name] : [],
  );
};

async function debug(agent: Agent, ...words: string[]): Promise<Files> {
  const path = join(newDirectory('debug'), 'debug.tar.gz');
  const ran = await agent.cli('operator', 'debug', '-duration', '1s', '-output', path, ...words);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
  return filesIn(path);
}

const secretFile = (name: string, text: string): string => {
  const path = join(newDirectory('secret'), name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};

const configFile = (settings: object): string => secretFile('agent.json', JSON.stringify(settings));

/** Makes records with secrets. Resolves with these, by where they are. */
async function plant(agent: Agent): Promise<Record<string, string>> {
  const made = (name: string) => `planted-${name}-${randomUUID()}`;
  const planted = {
    'a variable': made('variable'),
    'the environment of a task': made('environment'),
    'a template for the environment': made('template'),
    'the meta of a job': made('meta'),
    'the output of a task': made('output'),
  };
  const Path = 'roster/jobs/planted';
  const Items = { password: planted['a variable'] };
  expect((await agent.request('PUT', `/v1/var/${Path}`, { Path, Items })).status).toBe(200);
  const templates = [
    {
      EmbeddedTmpl: `TEMPLATE=${planted['a template for the environment']}\nVARIABLE={{ with var "${Path}" }}{{ .password }}{{ end }}\n`,
      DestPath: 'secrets/file.env',
      Envvars: true,
    },
  ];
  await agent.register(
    job('planted', {
      job: { Meta: { key: planted['the meta of a job'] } },
      task: {
        ...shell(`echo ${planted['the output of a task']} $PLANTED; exec sleep 600`),
        Env: { PLANTED: planted['the environment of a task'] },
        Templates: templates,
      },
    }),
  );
  await agent.until('/v1/job/planted/allocations', (json) => {
    expect(json[0]?.ClientStatus).toBe('running');
  });
  const token = await agent.request('PUT', '/v1/acl/token', {
    Policies: [{ Name: 'builtin/global-read-only' }],
  });
  return {
    ...planted,
    'the root token': agent.token,
    'a token': token.json.SecretID,
    'an introduction token': await agent.introduce(),
  };
}

test('the archive has every part, and no secret that is planted', async () => {
  await kms.start();
  kms.tokens.add('planted-kms-token');
  const rootKey = randomBytes(32).toString('base64');
  const settings = {
    keyring: {
      kms: {
        url: kms.url,
        key: 'roster',
        wrapped_key_file: secretFile('wrapped-key', kms.seal('roster', rootKey)),
        token_file: secretFile('kms-token', 'planted-kms-token'),
      },
    },
  };
  const dataDirectory = newDirectory();
  const agent = await startAgent({
    dataDirectory,
    token: randomUUID(),
    args: ['--config', configFile(settings), '--node-name', 'observed', '--log-level', 'error'],
  });
  const planted = await plant(agent);
  const identity = JSON.parse(readFileSync(join(dataDirectory, 'node/node.json'), 'utf8'));
  // Secrets come in requests while the log is followed.
  const busy = new AbortController();
  const requests = (async () => {
    while (!busy.signal.aborted) {
      await agent.request('GET', `/v1/jobs?token=${planted['a token']}`);
      await agent.request('GET', `/v1/var/roster/jobs/planted`);
      await agent.request('PUT', '/v1/acl/token', { Policies: [{ Name: 'no-such-policy' }] });
    }
  })();
  const files = await debug(agent, '-log-level', 'trace');
  busy.abort();
  await requests;

  const names = [...files.keys()];
  for (const part of [
    'self.json',
    'node.json',
    'monitor.log',
    'cpu.cpuprofile',
    'heap.heapprofile',
  ]) {
    expect([part, names.some((name) => name.endsWith(`/${part}`))]).toEqual([part, true]);
  }
  expect(JSON.parse(files.get('missing.json')!)).toEqual([]);
  const listed = JSON.parse(files.get('manifest.json')!).Files;
  expect(listed.map(({ Name }: { Name: string }) => Name).sort()).toEqual(
    names.filter((name) => name !== 'manifest.json').sort(),
  );
  // The agent itself writes errors alone.
  expect(files.get('servers/self/monitor.log')).toMatch(
    /\[DEBUG\] request: method=GET path=\/v1\/jobs/,
  );
  const self = JSON.parse(files.get('servers/self/self.json')!);
  expect(self).toMatchObject({
    Config: {
      data_dir: dataDirectory,
      root_token: '[secret]',
      keyring: { kms: { key: 'roster' } },
    },
    State: { Rows: { jobs: 1, variables: 1 } },
  });

  const secrets = {
    ...planted,
    'the token of the key service': 'planted-kms-token',
    'the root key': rootKey,
    'the secret of the node': identity.SecretID,
  };
  const found = Object.entries(secrets).map(([where, secret]) => [where, filesWith(files, secret)]);
  expect(found).toEqual(Object.keys(secrets).map((where) => [where, []]));
  // The search finds a text that is there.
  expect(filesWith(files, 'observed')).toContain('cluster/nodes.json');
});

test('without a permission its part is missing, and the archive tells why', async () => {
  const agent = await startAgent({ args: ['--log-level', 'error'] });
  const rules = 'agent_prefix "" { policy = "read" }';
  await agent.request('PUT', '/v1/acl/policy', { Name: 'reads', Rules: rules });
  const { json } = await agent.request('PUT', '/v1/acl/token', { Policies: [{ Name: 'reads' }] });
  const files = await debug(agent, '-token', json.SecretID);
  expect([...files.keys()]).toEqual(expect.arrayContaining(['servers/asked/self.json']));
  const missing = JSON.parse(files.get('missing.json')!) as { Name: string; Reason: string }[];
  expect(missing).toContainEqual({
    Name: 'servers/asked/cpu.cpuprofile',
    Reason: expect.stringContaining('agent:write'),
  });
  expect(missing).toContainEqual({
    Name: 'rounds/0001/members.json',
    Reason: expect.stringContaining('operator:read'),
  });
  const nothing = newDirectory('nothing');
  const words = ['operator', 'debug', '-duration', '1s'];
  const { code, stderr } = await launch(command, words, {
    env: { ROSTER_ADDR: agent.address },
    cwd: nothing,
  }).ended;
  expect([code, readdirSync(nothing)]).toEqual([1, []]);
  expect(stderr).toMatch(/^Error: Nothing could be had: Permission denied/);
  await agent.stop();
});

test('the log of an agent with readers has their lines as well', async () => {
  const agent = await startAgent({ args: ['--readers', '2', '--log-level', 'error'] });
  const monitor = agent.cliStart('monitor', '-log-level', 'debug', '-json');
  // The first requests may be answered before the readers know that somebody reads.
  await eventually(async () => {
    await agent.get('/v1/jobs');
    expect(monitor.said().stdout).toMatch(/"path":"\/v1\/jobs","status":200/);
  });
  monitor.signal('SIGINT');
  expect(await monitor.ended).toMatchObject({ code: 130, stderr: '' });
  await agent.stop();
});

test('Ctrl-C ends the time early, and the archive is whole', async () => {
  const agent = await startAgent();
  const cwd = newDirectory('early');
  const words = ['operator', 'debug', '-duration', '10m', '-output', 'early.tar.gz'];
  const running = launch(command, words, { env: agent.env, cwd });
  await eventually(() => {
    const [begun] = readdirSync(cwd);
    expect(statSync(join(cwd, begun!)).size).toBeGreaterThan(0);
  });
  running.signal('SIGINT');
  expect(await running.ended).toMatchObject({ code: 130, stderr: '' });
  expect(readdirSync(cwd)).toEqual(['early.tar.gz']);
  const files = await filesIn(join(cwd, 'early.tar.gz'));
  expect([...files.keys()]).toEqual(expect.arrayContaining(['manifest.json', 'missing.json']));
  await agent.stop();
});

describe('with etcd', needing(etcdServer), () => {
  test('the password is not in the archive', async () => {
    const etcd = await EtcdCluster.start(1);
    const password = `planted-${randomUUID()}`;
    for (const [path, body] of [
      ['auth/role/add', { name: 'root' }],
      ['auth/user/add', { name: 'root', password }],
      ['auth/user/grant', { user: 'root', role: 'root' }],
      ['auth/enable', {}],
    ] as const) {
      await etcd.call(path, body);
    }
    const settings = {
      engine: 'etcd',
      etcd: {
        endpoints: etcd.endpoints,
        user: 'root',
        password_file: secretFile('password', password),
      },
    };
    const agent = await startAgent({ args: ['--config', configFile(settings), '--server-only'] });
    const files = await debug(agent, '-log-level', 'trace');
    expect(filesWith(files, password)).toEqual([]);
    const [self] = [...files.keys()].filter((name) => name.endsWith('/self.json'));
    expect(JSON.parse(files.get(self!)!).Config.etcd).toMatchObject({ user: 'root' });
    await agent.stop();
    await etcd.stop();
  });
});
