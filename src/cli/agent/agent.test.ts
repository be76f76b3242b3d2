import { expect, test } from 'vitest';
import { run, type Setting } from '../harness.test-helper.ts';
import { parseHostPort } from './settings.ts';

const token = '7E1F6A8E-1111-4222-8333-123456789ABC';
const start = (words: string, setting: Setting = {}) =>
  run(['agent', ...words.split(' ').filter(Boolean)], setting);

test('--dev alone keeps nothing and ends its tasks', async () => {
  expect((await start('-dev')).agent).toEqual({
    isDev: true,
    allowedHosts: [],
    ui: { isEnabled: true, label: undefined, color: undefined },
    mode: 'both',
    servers: { addresses: [], introductionTokenFile: undefined, caCertificateFile: undefined },
    http: { host: '127.0.0.1', port: 4720 },
    dataDirectory: undefined,
    readers: 0,
    decider: false,
    rootToken: undefined,
    aclEnabled: true,
    aclDefaultPolicy: 'deny',
    peering: { advertise: undefined, caFile: undefined },
    region: 'global',
    node: {
      name: undefined,
      datacenter: 'dc1',
      class: '',
      pool: 'default',
      meta: {},
      isRemoteExecDisabled: false,
      hostVolumes: {},
    },
    drivers: { allow: ['docker', 'exec', 'java', 'raw_exec'] },
    isolation: {},
    docker: {},
    snapshots: undefined,
    garbage: {},
    artifacts: {},
    tasksOnExit: 'stop',
    run: [],
    logLevel: 'info',
  });
});

test('every flag arrives', async () => {
  const flags = `--data-dir /data --http 0.0.0.0:80 --root-token ${token} --node-name one --tasks-on-exit stop --run a.json --run b.json --log-level debug`;
  const files = { 'a.json': '{"ID":"a"}', 'b.json': '{"Job":{"ID":"b"}}' };
  expect((await start(flags, { files })).agent).toMatchObject({
    isDev: false,
    http: { host: '0.0.0.0', port: 80 },
    dataDirectory: '/data',
    rootToken: token.toLowerCase(),
    node: { name: 'one' },
    tasksOnExit: 'stop',
    run: [
      { path: 'a.json', registration: { Job: { ID: 'a' } } },
      { path: 'b.json', registration: { Job: { ID: 'b' } } },
    ],
    logLevel: 'debug',
  });
});

test.each([
  ['with --dev all', '--dev', undefined, ['docker', 'exec', 'java', 'raw_exec']],
  ['by default the node decides', '--data-dir /d', undefined, undefined],
  [
    'those of the flag',
    '--data-dir /d --allow-drivers exec,raw_exec',
    ['java'],
    ['exec', 'raw_exec'],
  ],
  ['those of the file, also with --dev', '--dev', ['java'], ['java']],
  ['none', '--dev', [], []],
] as const)('allowed drivers: %s', async (_, words, allow, expected) => {
  const files = { c: JSON.stringify(allow === undefined ? {} : { drivers: { allow } }) };
  const { agent } = await start(`${words} --config c`, { files });
  expect(agent?.drivers).toEqual(expected === undefined ? {} : { allow: expected });
});

test.each([
  ['raw-exec', 'must be a list of drivers, each once: docker, exec, java, raw_exec; did you mean'],
  ['exec,exec', 'must be a list of drivers, each once'],
])('--allow-drivers %s is refused', async (list, fault) => {
  const { stderr } = await start(`--dev --allow-drivers ${list}`);
  expect(stderr).toContain(`--allow-drivers ${fault}`);
});

test('a node alone has its servers from flags or from a file, and keeps its tasks', async () => {
  const flags =
    '--servers http://a:4720,https://b --introduction-token-file t --ca-cert ca.pem --data-dir /data';
  const expected = {
    mode: 'node',
    servers: {
      addresses: ['http://a:4720', 'https://b'],
      introductionTokenFile: 't',
      caCertificateFile: 'ca.pem',
    },
    tasksOnExit: 'keep',
  };
  expect((await start(flags)).agent).toMatchObject(expected);
  const c = JSON.stringify({
    servers: ['http://a:4720', 'https://b'],
    introduction_token_file: 't',
    ca_cert: 'ca.pem',
    data_dir: '/data',
  });
  expect((await start('--config c', { files: { c } })).agent).toMatchObject(expected);
  expect((await start('--dev --servers http://a:1')).agent).toMatchObject({ tasksOnExit: 'stop' });
});

test('the advertised addresses come from a flag or a file', async () => {
  const { agent } = await start('--dev --advertise 10.0.0.1:4720,lb.example:443');
  expect(agent?.peering.advertise).toEqual(['10.0.0.1:4720', 'lb.example:443']);
  const files = { c: '{"dev":true,"peering":{"advertise":["[::1]:1"],"ca_file":"ca.pem"}}' };
  expect((await start('--config c', { files })).agent?.peering).toEqual({
    advertise: ['[::1]:1'],
    caFile: 'ca.pem',
  });
  const { stderr, agent: none } = await start('--dev --advertise http://a:1');
  expect(none).toBeUndefined();
  expect(stderr).toContain('--advertise must be 1 to 16 addresses, such as "10.0.0.1:4720"');
});

test('volumes come from flags or from a file, and flags take precedence', async () => {
  const c = JSON.stringify({
    dev: true,
    node: { host_volume: { 'data[0]': { path: '/srv' }, b: { path: '/b', read_only: true } } },
  });
  const volumesOf = async (words: string) =>
    (await start(words, { files: { c } })).agent?.node.hostVolumes;
  expect(await volumesOf('--config c')).toEqual({
    'data[0]': { Path: '/srv', ReadOnly: false },
    b: { Path: '/b', ReadOnly: true },
  });
  expect(await volumesOf('--config c --host-volume x=/x=1:ro --host-volume y=/y:z')).toEqual({
    x: { Path: '/x=1', ReadOnly: true },
    y: { Path: '/y:z', ReadOnly: false },
  });
});

test.each<[string, string, unknown, string[]]>([
  ['a list', '', ['a'], ['c: node.host_volume must be NAME=PATH or NAME=PATH:ro, each name once']],
  ['a text', '', 'a', ['c: node.host_volume must be by name { "path": "/absolute"']],
  [
    'several faults',
    '',
    { 'a b': { path: 'srv', read_only: 1, size: 2 }, c: 3, d: {} },
    [
      'the name "a b" must be letters, digits',
      'a b.path must be an absolute path; a b.read_only must be true or false; a b.size is not a setting',
      'c must be an object; d.path must be an absolute path',
    ],
  ],
  ['an invalid flag', '--host-volume data', undefined, ['--host-volume must be NAME=PATH or']],
  ['a path that is relative', '--host-volume a=b', undefined, ['a.path must be an absolute path']],
  ['a name twice', '--host-volume a=/a --host-volume a=/b', undefined, ['each name once']],
])('volumes that are refused: %s', async (_, words, host_volume, faults) => {
  const files = { c: JSON.stringify({ dev: true, node: { host_volume } }) };
  const { stderr, agent } = await start(`--config c ${words}`, { files });
  expect(agent).toBeUndefined();
  for (const fault of faults) expect(stderr).toContain(fault);
});

test('a server alone is set by a flag or a file', async () => {
  expect((await start('--dev --server-only')).agent?.mode).toBe('server');
  const files = { c: '{"server_only":true,"data_dir":"/data"}' };
  expect((await start('--config c', { files })).agent?.mode).toBe('server');
});

const configuration = JSON.stringify({
  data_dir: '/data',
  http: '10.0.0.1:4000',
  acl: { enabled: false, default_policy: 'allow' },
  region: 'eu',
  node: {
    name: 'two',
    datacenter: 'dc7',
    class: 'big',
    pool: 'gpu',
    meta: { rack: 'r1' },
    artifacts: { sources: ['https'], git_timeout: '2m', files: 9 },
    disable_remote_exec: true,
    address: '10.0.0.7',
    cpu_total_compute: 8000,
    memory_total_mb: 4096,
    disk_total_mb: 9000,
    min_dynamic_port: 21_000,
    max_dynamic_port: 21_999,
    reserved: { cpu: 500, memory: 256, disk: 1024, reserved_ports: '22,8000-8010' },
  },
  isolation: {
    chroot: { '/usr': '/usr' },
    allow_capabilities: ['CAP_NET_RAW'],
    allow_root: true,
    uid_range: '200000:4096',
  },
  garbage_collection: { interval: '1m', job_age: '36h', node_age: '0s' },
  snapshots: { directory: 'backup', interval: '10m', keep: 3 },
  docker: { socket: '/p.sock', volumes: true, allow_caps: ['net_raw'], image_delay: '3m' },
  run: ['jobs/web.json'],
});

test('a file has all settings, its paths are relative to it, and flags take precedence', async () => {
  const files = { '/etc/roster.json': configuration, '/etc/jobs/web.json': '{"ID":"web"}' };
  const { agent } = await start('--config /etc/roster.json --http 127.0.0.1:9', { files });
  expect(agent).toMatchObject({
    http: { host: '127.0.0.1', port: 9 },
    dataDirectory: '/data',
    aclEnabled: false,
    aclDefaultPolicy: 'allow',
    region: 'eu',
    node: {
      name: 'two',
      datacenter: 'dc7',
      class: 'big',
      pool: 'gpu',
      meta: { rack: 'r1' },
      isRemoteExecDisabled: true,
      address: '10.0.0.7',
      cpuTotalMhz: 8000,
      memoryTotalMb: 4096,
      diskTotalMb: 9000,
      dynamicPortMin: 21_000,
      dynamicPortMax: 21_999,
      reserved: { cpuMhz: 500, memoryMb: 256, diskMb: 1024, hostPorts: '22,8000-8010' },
    },
    isolation: {
      view: { '/usr': '/usr' },
      allowedCapabilities: ['net_raw'],
      allowsRoot: true,
      uidRange: { start: 200_000, count: 4096 },
    },
    docker: {
      socket: '/p.sock',
      allowVolumes: true,
      allowedCapabilities: ['net_raw'],
      imageDelayMs: 180_000,
    },
    garbage: { intervalMs: 60_000, jobAgeMs: 36 * 3_600_000, nodeAgeMs: 0 },
    snapshots: { directory: 'backup', intervalMs: 600_000, keep: 3 },
    artifacts: { sources: ['https'], gitTimeoutMs: 120_000, filesMax: 9 },
    tasksOnExit: 'keep',
    run: [{ path: '/etc/jobs/web.json' }],
  });
});

test('the root token may come from the environment', async () => {
  const env = { ROSTER_ROOT_TOKEN: token };
  expect((await start('--dev', { env })).agent?.rootToken).toBe(token.toLowerCase());
});

test('the collector of traces may come from the environment or the file', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  expect((await start('--dev', { env })).agent?.telemetry).toEqual({
    endpoint: 'http://127.0.0.1:4318',
  });
  const otlp = { endpoint: 'https://collector.example', headers_file: '/etc/roster/otlp-headers' };
  const files = { 'a.json': JSON.stringify({ dev: true, telemetry: { otlp } }) };
  expect((await start('--config a.json', { files })).agent?.telemetry).toEqual({
    endpoint: 'https://collector.example',
    headersFile: '/etc/roster/otlp-headers',
  });
});

const key = 'c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlY3I=';
const kms = {
  url: 'https://kms.example/v1/transit/',
  key: 'roster',
  wrapped_key_file: 'w',
  token_file: 't',
};

test('the root key may come from the environment, or from a service', async () => {
  const env = { ROSTER_ROOT_KEY: key };
  expect((await start('--dev', { env })).agent?.rootKey).toBe(key);
  const files = { c: JSON.stringify({ keyring: { kms } }) };
  expect((await start('--dev --config c', { files })).agent?.keyService).toEqual({
    url: 'https://kms.example/v1/transit',
    key: 'roster',
    wrappedKeyFile: 'w',
    tokenFile: 't',
    caFile: undefined,
  });
});

test.each<[string, object, Record<string, string>, string]>([
  ['given twice', { root_key_file: 'k' }, { ROSTER_ROOT_KEY: key }, 'exclude each other'],
  ['given and asked for', { root_key_file: 'k', kms }, {}, 'exclude each other'],
  ['too short', {}, { ROSTER_ROOT_KEY: 's3cret' }, 'ROSTER_ROOT_KEY must be 32 bytes'],
  [
    'asked for without a token',
    { kms: { ...kms, token_file: undefined } },
    {},
    'token_file is missing',
  ],
  ['read by others', { kms: { ...kms, url: 'http://kms.example' } }, {}, 'begins with https://'],
])('a root key that is %s is refused', async (_, keyring, env, fault) => {
  const files = { c: JSON.stringify({ keyring }) };
  const { stderr, agent } = await start('--dev --config c', { env, files });
  expect(agent).toBeUndefined();
  expect(stderr).toContain(fault);
  for (const secret of [key, 's3cret']) expect(stderr).not.toContain(secret);
});

test('the root token may come from a file, and may only be given once', async () => {
  expect((await start('--dev --root-token-file t')).agent?.rootTokenFile).toBe('t');
  const { stderr, agent: none } = await start(`--dev --root-token-file t --root-token ${token}`);
  expect(none).toBeUndefined();
  expect(stderr).toContain('--root-token and --root-token-file exclude each other');
});

test('allowed hosts come from a flag or a file', async () => {
  const flags = '--dev --allowed-hosts a.example,.b.example';
  expect((await start(flags)).agent?.allowedHosts).toEqual(['a.example', '.b.example']);
  const http = { address: '127.0.0.1:1', allowed_hosts: ['a.example'] };
  const files = { c: JSON.stringify({ dev: true, http }) };
  expect((await start('--config c', { files })).agent).toMatchObject({
    http: { port: 1 },
    allowedHosts: ['a.example'],
  });
  const { stderr } = await start('--dev --allowed-hosts http://a.example');
  expect(stderr).toContain('--allowed-hosts must be a list of names such as "roster.example.com"');
});

test('the web interface is switched off and named by flags, variables and files', async () => {
  const named = { isEnabled: false, label: 'production', color: '#B42318' };
  const flags = '--dev --ui false --ui-label production --ui-color #B42318';
  expect((await start(flags)).agent?.ui).toEqual(named);
  const env = {
    ROSTER_AGENT_UI: '0',
    ROSTER_AGENT_UI_LABEL: 'production',
    ROSTER_AGENT_UI_COLOR: '#B42318',
  };
  expect((await start('--dev', { env })).agent?.ui).toEqual(named);
  const files = {
    'c.hcl':
      'dev = true\nui {\n  enabled = false\n  label = "production"\n  color = "#B42318"\n}\n',
  };
  expect((await start('--config c.hcl', { files })).agent?.ui).toEqual(named);
  expect((await start('--config c.hcl --ui true', { files })).agent?.ui.isEnabled).toBe(true);
});

test.each([
  ['--ui perhaps', '--ui must be true or false, got "perhaps"'],
  [`--ui-label ${'a'.repeat(33)}`, '--ui-label must be text of 1 to 32 characters'],
  ['--ui-color red', '--ui-color must be a colour such as "#b42318", got "red"'],
  ['--ui-color #b4231', '--ui-color must be a colour'],
])('%s is refused', async (words, fault) => {
  const { stderr, agent } = await start(`--dev ${words}`);
  expect(agent).toBeUndefined();
  expect(stderr).toContain(fault);
});

test('readers are a number, and a matter of servers with the embedded store', async () => {
  expect((await start('--dev --readers 3')).agent?.readers).toBe(3);
  expect((await start('--dev --readers 0')).agent?.readers).toBe(0);
  expect((await start('--data-dir /srv/roster')).agent?.readers).toBeUndefined();
  const refusal = async (flags: string) => (await start(flags)).stderr;
  expect(await refusal('--dev --readers many')).toContain(
    '--readers must be a whole number from 0 to 64',
  );
  expect(await refusal('--dev --readers 2 --engine etcd --etcd-endpoints a:1')).toContain(
    '--readers is of no use with the engine etcd: start more servers on it',
  );
  expect(await refusal('--dev --readers 2 --servers http://a:1')).toContain(
    '--readers is a matter of servers',
  );
});

test('the age up to which a state is shown to stale reads is that of the setting', async () => {
  const flags = '--dev --engine etcd --etcd-endpoints a:1';
  expect((await start(flags)).agent?.etcd?.staleMaxMs).toBeUndefined();
  const given = await start(`${flags} --cluster-stale-max 30s`);
  expect(given.agent?.etcd?.staleMaxMs).toBe(30_000);
  const { stderr } = await start(`${flags} --cluster-stale-max 1s`);
  expect(stderr).toContain('--cluster-stale-max must be a duration from 5s');
  const alone = await start('--dev --cluster-stale-max 30s');
  expect(alone.stderr).toContain('--cluster-stale-max is of no use without the engine etcd');
});

test('snapshots on a schedule need a directory alone', async () => {
  expect((await start('--dev --snapshot-dir /backup')).agent?.snapshots).toEqual({
    directory: '/backup',
    intervalMs: 3_600_000,
    keep: 24,
  });
  const flags = '--dev --snapshot-dir /backup --snapshot-interval 5m --snapshot-keep 2';
  expect((await start(flags)).agent?.snapshots).toMatchObject({ intervalMs: 300_000, keep: 2 });
  const { stderr } = await start('--dev --snapshot-interval 1s --snapshot-keep none');
  expect(stderr).toContain('--snapshot-interval must be a duration from 1m');
  expect(stderr).toContain('--snapshot-keep must be a whole number from 1 to 10000');
  expect(stderr).toContain('--snapshot-dir is missing');
});

test('the exit code is that of the agent', async () => {
  expect(await start('--dev', { agentExitCode: 7 })).toMatchObject({ exitCode: 7 });
});

test.each<[string, string, Setting, string[]]>([
  ['nowhere to keep the state', '', {}, ['--data-dir is missing: name a directory']],
  [
    'several faults at once',
    '--dev --http 1:99999 --log-level loud --root-token s3cret --tasks-on-exit keep',
    {},
    [
      '--http must be HOST:PORT',
      '--root-token must be a UUID, such as one made by "uuidgen", got something else',
      '--log-level must be trace or debug or info or warn or error, got "loud"',
      '--tasks-on-exit cannot be keep without a data directory',
    ],
  ],
  [
    'a job file that is not there',
    '--dev --run no.json',
    {},
    ['--run: "no.json" cannot be read: there is no such file'],
  ],
  ['a file that is not there', '--dev --config no.json', {}, ['no.json cannot be read: ENOENT']],
  ['a file that is no JSON', '--dev --config c', { files: { c: '{' } }, ['c is not JSON: ']],
  ['a file with a list', '--dev --config c', { files: { c: '[]' } }, ['c does not hold an object']],
  [
    'unknown and wrong settings',
    '--dev --config c',
    { files: { c: '{"htp":1,"node":{"datacentre":"x"},"acl":true,"region":"a b","zzz":1}' } },
    [
      'c: htp is not a setting; did you mean http?',
      'c: node.datacentre is not a setting; did you mean node.datacenter?',
      'c: acl must be an object',
      'c: zzz is not a setting',
      'c: region must be a name of letters',
    ],
  ],
  [
    'a capacity that no node can have',
    '--dev --config c',
    {
      files: {
        c: '{"node":{"address":"db","memory_total_mb":0,"min_dynamic_port":40000,"reserved":{"cpu":-1,"reserved_ports":"80-22"}}}',
      },
    },
    [
      'c: node.address must be an IP address, such as "10.0.0.7", got "db"',
      'c: node.memory_total_mb must be a whole number from 1 on, got 0',
      'c: node.reserved.cpu must be a whole number from 0 to',
      'c: node.reserved.reserved_ports must be ports such as "22,8000-8010", got "80-22"',
      'c: node.min_dynamic_port is 40000, which is greater than node.max_dynamic_port, 32000',
    ],
  ],
  [
    'a pool that no node may be in',
    '--dev --config c',
    { files: { c: '{"node":{"pool":"all"}}' } },
    ['c: node.pool must be letters, digits, "-" and "_", and not "all"'],
  ],
  [
    'an invalid view and invalid capabilities',
    '--dev --config c',
    {
      files: {
        c: '{"isolation":{"chroot":{"usr":"/usr"},"allow_capabilities":["net raw"],"uid_range":"60000:9999"}}',
      },
    },
    [
      'c: isolation.chroot must be an object of absolute paths',
      'c: isolation.allow_capabilities must be a list of capabilities, such as "net_raw"',
      'c: isolation.uid_range must be START:COUNT, user ids from 1000 on without 65534, such as "200000:65536"',
    ],
  ],
  [
    'a node alone with what servers are told',
    `--dev --servers http://a:1 --server-only --http 80 --root-token ${token} --config c`,
    { files: { c: '{"acl":{"enabled":true},"garbage_collection":{"interval":"1m"}}' } },
    [
      'c: acl.enabled is a matter of servers, and of no use to a node alone',
      'c: garbage_collection.interval is a matter of servers',
      '--http is a matter of servers',
      '--root-token is a matter of servers',
      '--server-only and --servers exclude each other',
    ],
  ],
  [
    'a server with the settings of a node',
    '--dev --introduction-token-file t --ca-cert ca.pem',
    {},
    [
      '--introduction-token-file is of no use without servers: those that the node joins',
      '--ca-cert is of no use without servers',
    ],
  ],
  ...['', 'a:4720', 'ftp://a', 'http://a/v1', 'http://u:p@a', 'http://a,', 'http://a,http://a'].map(
    (servers): [string, string, Setting, string[]] => [
      `the list of servers "${servers}"`,
      '--dev --config c',
      { files: { c: JSON.stringify({ servers: servers.split(',') }) } },
      ['c: servers must be 1 to 64 different addresses, such as "http://10.0.0.1:4720"'],
    ],
  ),
  [
    'an engine without its settings',
    '--dev --engine etcd --etcd-user a --etcd-cert c.pem --etcd-prefix x',
    {},
    [
      '--etcd-prefix must begin and end with "/"',
      '--etcd-endpoints is missing: name where etcd listens',
      '--etcd-user is of no use without --etcd-password-file',
      '--etcd-cert is of no use without --etcd-key',
    ],
  ],
  [
    'etcd without its engine',
    '--dev --etcd-endpoints a:2379',
    {},
    ['--etcd-endpoints is of no use without the engine etcd'],
  ],
  [
    'invalid endpoints and engines',
    '--dev --engine disk --etcd-endpoints a',
    {},
    [
      '--engine must be embedded or etcd',
      '--etcd-endpoints must be a list of HOST:PORT',
      '--etcd-endpoints is of no use without the engine etcd',
    ],
  ],
  [
    'a collector with a password in its address',
    '--dev',
    { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:s3cret@127.0.0.1:4318' } },
    ['OTEL_EXPORTER_OTLP_ENDPOINT must be the address of a collector'],
  ],
  [
    'a bad token of the environment',
    '--dev',
    { env: { ROSTER_ROOT_TOKEN: 'x' } },
    ['ROSTER_ROOT_TOKEN must be a UUID'],
  ],
])('%s is refused', async (_, words, setting, faults) => {
  const { exitCode, stderr, agent } = await start(words, setting);
  expect({ exitCode, agent }).toEqual({ exitCode: 1, agent: undefined });
  const lines = stderr.split('\n').filter((line) => line.startsWith('  - '));
  expect(lines).toEqual(faults.map((fault) => expect.stringContaining(fault)));
  expect(stderr).not.toContain('s3cret');
});

test.each([
  ['127.0.0.1:4720', { host: '127.0.0.1', port: 4720 }],
  ['[::1]:80', { host: '::1', port: 80 }],
  [':80', { host: '127.0.0.1', port: 80 }],
  ['80', { host: '127.0.0.1', port: 80 }],
  ['roster.example:0', { host: 'roster.example', port: 0 }],
  ['::1:80', undefined],
  ['127.0.0.1', undefined],
  ['127.0.0.1:', undefined],
  ['http://127.0.0.1:80', undefined],
  ['127.0.0.1:65536', undefined],
  [4720, undefined],
])('%s is an address: %o', (given, expected) => {
  expect(parseHostPort(given)).toEqual(expected);
});
