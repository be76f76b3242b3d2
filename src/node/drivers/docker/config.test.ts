import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DriverTask } from '../driver.ts';
import { dockerConfigFaults } from './config.ts';
import { containerOptions } from './container-options.ts';
import { findImageUser } from './image-user.ts';
import { PullProgress, pullFault } from './pull-progress.ts';
import type { DockerSettings } from './settings.ts';
import { findSocket } from './sockets.ts';

const faultsOf = (config: object, settings: DockerSettings = {}) =>
  dockerConfigFaults(config as Record<string, unknown>, settings).map(({ message }) => message);

test('a config with every field is valid', () => {
  const config = {
    image: 'https://example.com:5000/a/b@sha256:'.concat('a'.repeat(64)),
    command: 'x',
    args: ['y'],
    entrypoint: ['/e'],
    ports: ['http'],
    network_mode: 'bridge',
    volumes: ['local/a:/a', '/b:/b:ro,rshared'],
    work_dir: '/w',
    labels: [{ a: 'b' }],
    mount: [
      {
        type: 'bind',
        source: 's',
        target: '/t',
        readonly: true,
        bind_options: [{ propagation: 'shared' }],
      },
      { type: 'tmpfs', target: '/u', tmpfs_options: { size: 1 } },
      {
        target: '/v',
        volume_options: { driver_config: [{ name: 'local', options: [{ o: 'p' }] }] },
      },
    ],
    auth: [{ username: 'u', password: 'p' }],
    force_pull: true,
    image_pull_timeout: '2m',
    cap_add: ['chown'],
    cap_drop: ['all'],
    extra_hosts: ['a:1.2.3.4'],
    dns_servers: ['1.1.1.1'],
    hostname: 'h',
    init: true,
    interactive: true,
    tty: true,
    readonly_rootfs: true,
    shm_size: 1,
    ulimit: [{ nofile: '1024:2048', nproc: '5' }],
    sysctl: { 'net.core.somaxconn': '1' },
    security_opt: ['no-new-privileges'],
    logging: [{ type: 'journald', config: [{ tag: 'x' }] }],
    pids_limit: 5,
    cpu_hard_limit: true,
    cpu_cfs_period: 1000,
    memory_hard_limit: 100,
  };
  expect(faultsOf(config)).toEqual([]);
});

test('all faults are reported together', () => {
  const config = {
    args: 'x',
    ports: [80],
    volumes: ['/a', 'a:b', 'a:/b:what'],
    work_dir: 'w',
    labels: 'x',
    mount: [{ type: 'bind', target: 'rel' }, { typ: 'x', target: '/x' }, 7],
    auth: [{}, {}],
    force_pull: 'yes',
    image_pull_timeout: 'soon',
    extra_hosts: ['a'],
    ulimit: { nofile: 'x' },
    shm_size: 0,
    cpu_cfs_period: 1,
    imagine: 1,
  };
  expect(faultsOf(config)).toEqual([
    'Config.image is required',
    'Config.args must be a list of texts',
    'Config.ports must be a list of texts',
    'Config.volumes must be a list of texts "source:/target" or "source:/target:ro", got ["/a","a:b","a:/b:what"]',
    'Config.mount has faults: [0].target must be an absolute path; [1].typ is not known here; ' +
      'known are type, source, target, readonly, bind_options, volume_options, tmpfs_options; ' +
      '[2] must be a block',
    'Config.work_dir must be an absolute path',
    'Config.labels must be names with texts',
    'Config.auth must be one block',
    'Config.force_pull must be true or false',
    'Config.image_pull_timeout must be a duration such as "30s"',
    'Config.extra_hosts must be a list of texts "name:address"',
    'Config.shm_size must be a positive integer',
    'Config.ulimit must be names with limits, such as nofile = "1024:2048"; wrong are nofile',
    'Config.cpu_cfs_period must be microseconds from 1000 to 1000000',
    expect.stringMatching(/^Config\.imagine is not known here; known are image, command, /),
  ]);
});

test.each<[object, RegExp]>([
  [
    { privileged: true },
    /^Config.privileged is allowed only on nodes with docker.allow_privileged$/,
  ],
  [{ pid_mode: 'host' }, /^Config.pid_mode "host" is allowed only/],
  [{ ipc_mode: 'container:x' }, /^Config.ipc_mode "container:x" is allowed only/],
  [{ network_mode: 'container:x' }, /^Config.network_mode "container:x" is allowed only/],
  [{ devices: [{ host_path: '/dev/kmsg' }] }, /^Config.devices is allowed only/],
  [{ runtime: '/alloc/data/runtime' }, /^Config.runtime is allowed only/],
  [
    { security_opt: ['seccomp=unconfined'] },
    /^Config.security_opt "seccomp=unconfined" is allowed/,
  ],
])('%j is for privileged tasks', (config, message) => {
  const [told, ...others] = faultsOf({ image: 'x', ...config });
  expect([told, others]).toEqual([expect.stringMatching(message), []]);
  expect(faultsOf({ image: 'x', ...config }, { allowPrivileged: true })).toEqual([]);
});

test.each([
  [{ path: '/etc/cron.d/x' }, 'path'],
  [{ path: 'x', 'gelf-address': 'udp://1.2.3.4:5', tag: 'a' }, 'path'],
  [
    { 'syslog-address': 'unixgram:///run/x', 'syslog-tls-key': '/etc/key' },
    'syslog-address, syslog-tls-key',
  ],
])('a log by %j names files of the machine', (config, names) => {
  const logging = [{ type: 'x', config: [config] }];
  const message = `Config.logging names files of the machine (${names}), which takes docker.volumes`;
  expect(faultsOf({ image: 'x', logging })).toEqual([message]);
  expect(faultsOf({ image: 'x', logging }, { allowVolumes: true })).toEqual([]);
});

test.each(['dir:/etc', 'docker-archive:/tmp/x.tar', 'oci:/x:1'])('%s is no image', (image) => {
  expect(faultsOf({ image })).toEqual([expect.stringMatching(/^Config.image must be the name/)]);
});

test.each<[string[] | undefined, string[], string[]]>([
  [undefined, ['mknod', 'kill'], ['MKNOD']],
  [undefined, ['CAP_NET_RAW', 'chown'], ['NET_RAW']],
  [['net_raw'], ['cap_net_raw'], []],
  [['net_raw'], ['sys_admin', 'chown'], ['SYS_ADMIN', 'CHOWN']],
  [['all'], ['sys_admin'], []],
])('where %j is allowed, of %j are refused %j', (allowedCapabilities, cap_add, refused) => {
  const settings = allowedCapabilities === undefined ? {} : { allowedCapabilities };
  const message = `Config.cap_add has ${refused.join(', ')}, which docker.allow_caps of this node does not list`;
  expect(faultsOf({ image: 'x', cap_add }, settings)).toEqual(
    refused.length === 0 ? [] : [message],
  );
});

const directories = {
  root: '/d/app',
  shared: '/d/alloc',
  logs: '/l',
  local: '/d/app/local',
  secrets: '/s',
};
const task: DriverTask = {
  runId: 'a1/app#1',
  allocId: 'a1',
  namespace: 'default',
  jobId: 'web',
  groupName: 'g',
  taskName: 'app',
  config: {},
  variables: { A: 'b' },
  directories,
  user: 'app',
  resources: { cpuMhz: 1, cores: [0, 2], memoryMb: 64, memoryMaxMb: 0 },
  ports: [
    { label: 'http', value: 25_000, to: 80, hostIp: '127.0.0.1' },
    { label: 'other', value: 25_001, to: 0, hostIp: '10.0.0.1' },
  ],
  logs: { directory: '/l', name: 'app', maxFiles: 1, maxFileBytes: 1, disabled: false },
};
const optionsOf = (
  config: object,
  fields: Partial<DriverTask> = {},
  runtime: 'docker' | 'podman' = 'docker',
) =>
  containerOptions({
    task: { ...task, ...fields },
    config: { image: 'x', ...config },
    mounts: [],
    runtime,
    labels: {
      runId: 'a1/app#1',
      owner: '/d',
      endsWith: '',
      logs: { settings: task.logs, markPath: '/m' },
    },
    processor: { totalMhz: 4000, cores: 4 },
  });

describe('a container', () => {
  test('publishes the ports that it names, for both protocols, on their addresses', () => {
    const { HostConfig, ExposedPorts } = optionsOf({ ports: ['http', 'other'] });
    const http = [{ HostIp: '127.0.0.1', HostPort: '25000' }];
    const other = [{ HostIp: '10.0.0.1', HostPort: '25001' }];
    expect(HostConfig?.PortBindings).toEqual({
      '80/tcp': http,
      '80/udp': http,
      '25001/tcp': other,
      '25001/udp': other,
    });
    expect(Object.keys(ExposedPorts ?? {})).toHaveLength(4);
    expect(
      optionsOf({ ports: ['http'], network_mode: 'host' }).HostConfig?.PortBindings,
    ).toBeUndefined();
    expect(() => optionsOf({ ports: ['htp'] })).toThrow('Config.ports names htp, which the group');
  });

  test('has the limits of its task', () => {
    const megabyte = 2 ** 20;
    expect(optionsOf({}).HostConfig).toMatchObject({
      CpuShares: 2,
      CpusetCpus: '0,2',
      Memory: 64 * megabyte,
      MemorySwap: 64 * megabyte,
      RestartPolicy: { Name: 'no' },
    });
    const resources = { cpuMhz: 1000, cores: [], memoryMb: 64, memoryMaxMb: 128 };
    expect(optionsOf({ cpu_hard_limit: true }, { resources }).HostConfig).toMatchObject({
      CpuShares: 1000,
      Memory: 128 * megabyte,
      MemoryReservation: 64 * megabyte,
      CpuPeriod: 100_000,
      CpuQuota: 100_000,
    });
    expect(optionsOf({ memory_hard_limit: 256 }).HostConfig).toMatchObject({
      Memory: 256 * megabyte,
    });
  });

  test.each([
    [{}, ['MKNOD']],
    [{ cap_drop: ['kill'] }, ['kill', 'MKNOD']],
    [{ cap_add: ['CAP_MKNOD'] }, []],
    [{ cap_add: ['all'], cap_drop: ['kill'] }, ['kill']],
    [{ privileged: true }, []],
  ])('makes no devices unless it asks to: %j', (config, expected) => {
    expect(optionsOf(config).HostConfig?.CapDrop).toEqual(expected);
  });

  test('has labels of its node, which no job can change', () => {
    const { Labels, name } = optionsOf({ labels: [{ 'roster.owner': '/else', mine: 'x' }] });
    expect(Labels).toMatchObject({ mine: 'x', 'roster.owner': '/d', 'roster.run-id': 'a1/app#1' });
    expect(name).toMatch(/^roster-a1-app-1-[0-9a-f]{8}$/);
  });

  test.each([
    ['docker', {}, { Type: 'json-file', Config: { 'max-size': '20m', 'max-file': '5' } }],
    ['podman', {}, { Type: 'json-file', Config: { 'max-size': '100m' } }],
    ['docker', { logging: [{ type: 'local' }] }, { Type: 'local', Config: {} }],
    [
      'docker',
      { logging: { driver: 'syslog', config: [{ tag: 'a' }] } },
      { Type: 'syslog', Config: { tag: 'a' } },
    ],
  ] as const)('under %s with %j logs by %j', (runtime, config, expected) => {
    expect(optionsOf(config, {}, runtime).HostConfig?.LogConfig).toEqual(expected);
  });
});

describe('the socket', () => {
  let directory: string;
  let server: Server;
  let path: string;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'roster-socket-'));
    path = join(directory, 'podman', 'podman.sock');
    server = createServer();
    (await import('node:fs')).mkdirSync(join(directory, 'podman'));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    writeFileSync(join(directory, 'file'), '');
  });
  afterEach(() => {
    server.close();
    rmSync(directory, { recursive: true });
  });
  const find = (environment: Record<string, string>, socket?: string) =>
    findSocket({ environment, socket, userId: 4711 });

  test('is the configured one, and no other', async () => {
    expect(await find({}, path)).toEqual({ path });
    expect(await find({ DOCKER_HOST: '/x' }, `unix://${path}`)).toEqual({ path });
    expect(await find({ DOCKER_HOST: `unix://${path}` })).toEqual({ path });
    const file = join(directory, 'file');
    expect(await find({}, file)).toEqual({
      absent: `docker.socket names ${file}, which is no socket`,
    });
    expect(await find({ DOCKER_HOST: 'unix:///no' })).toEqual({
      absent: 'DOCKER_HOST names /no, which does not exist',
    });
    expect(await find({ DOCKER_HOST: 'tcp://1.2.3.4:2375' })).toEqual({
      absent: 'DOCKER_HOST is no unix:// socket: only runtimes of this machine are used',
    });
  });
});

test.each([
  ['', undefined],
  ['root', { uid: 0, gid: 0 }],
  ['app', { uid: 12, gid: 34 }],
  ['app:99', { uid: 12, gid: 99 }],
  ['12', { uid: 12, gid: 34 }],
  ['77', { uid: 77, gid: 77 }],
  ['77:88', { uid: 77, gid: 88 }],
  ['who', undefined],
])('the user "%s" of an image is %o', async (user, expected) => {
  const passwd = 'root:x:0:0::/:/bin/sh\napp:x:12:34::/:/bin/sh\n';
  expect(await findImageUser(user, async () => passwd)).toEqual(expected);
});

test('a download reports its progress and its error', () => {
  const progress = new PullProgress();
  const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\r\n`);
  progress.take(line({ status: 'Pulling fs layer', id: 'a', progressDetail: {} }));
  const second = line({
    status: 'Downloading',
    id: 'b',
    progressDetail: { current: 2 ** 20, total: 2 ** 22 },
  });
  progress.take(second.subarray(0, 20));
  progress.take(second.subarray(20));
  progress.take(line({ status: 'Pull complete', id: 'a', progressDetail: {} }));
  expect(progress.sentence).toBe('1 of 2 layers, 1.0 of 4.0 MiB');
  progress.take(Buffer.from('{"errorDetail":{"message":"manifest unknown"},"error":"x"}'));
  progress.end();
  expect(progress.fault).toBe('manifest unknown');
});

test.each([
  ['manifest for x:1 not found: manifest unknown', 500, false],
  ['reading manifest 1 in docker.io/x: manifest unknown', 200, false],
  ['pull access denied for x, repository does not exist or may require "docker login"', 404, false],
  ['initializing source: requested access to the resource is denied', 200, false],
  ['unauthorized: authentication required', 500, false],
  ['dial tcp: lookup registry-1.docker.io on 127.0.0.53:53: no such host', 500, true],
  ['dial tcp 127.0.0.1:443: connect: connection refused', 200, true],
  ['received unexpected HTTP status: 503 Service Unavailable', 500, true],
  ['toomanyrequests: You have reached your pull rate limit', 500, true],
])('"%s" (%i) may be tried again: %s', (reason, status, isRecoverable) => {
  expect(pullFault(reason, status)).toEqual({ isRecoverable });
});
