/**
 * A real container runtime for tests: a Podman service with its storage in a temporary directory,
 * and one small image made of programs of this machine. Nothing is downloaded.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '../../eventually.test-helper.ts';
import { commandLineOf } from '../../orphans.test-helper.ts';
import { listPids } from '../../supervisor/proc.ts';
import type { SystemUser } from '../../system-user.ts';

const programs = [
  'sh',
  'sleep',
  'cat',
  'echo',
  'ls',
  'id',
  'env',
  'head',
  'stty',
  'tty',
  'stat',
  'rm',
  'mkdir',
  'touch',
  'nproc',
  'grep',
  'test',
  'date',
  'seq',
  'wc',
  'hostname',
  'dd',
  'true',
];

/** The image that every test has. Its user `app` is 1234. */
export const testImage = 'localhost/tiny:1';

export class Podman {
  /** The address for `DOCKER_HOST` or the configuration. */
  readonly socket: string;
  readonly directory: string;
  readonly #user: SystemUser | undefined;
  #service: ChildProcess | undefined;

  /**
   * @param more programs in the image besides those of every test
   * @param user that runs the runtime, without privileges; default: this process's user
   */
  constructor(more: readonly string[] = [], user?: SystemUser) {
    this.directory = mkdtempSync(join(tmpdir(), 'roster-podman-'));
    this.#user = user;
    this.socket = join(this.directory, 'podman.sock');
    // Limits that a plain user may set.
    writeFileSync(
      join(this.directory, 'containers.conf'),
      '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n',
    );
    this.useRegistry('127.0.0.1:1');
    const root = makeRoot(join(this.directory, 'image'), [...programs, ...more]);
    const ofRoot = ['--owner=0', '--group=0'];
    execFileSync('tar', [...ofRoot, '-C', root, '-cf', join(this.directory, 'image.tar'), '.']);
    if (user !== undefined) chownSync(this.directory, user.uid, user.gid);
    this.run('import', '-q', join(this.directory, 'image.tar'), testImage);
  }

  /** Allows a registry without TLS, from the next start of the service. */
  useRegistry(address: string): void {
    const text = `unqualified-search-registries = []\n[[registry]]\nlocation = "${address}"\ninsecure = true\n`;
    writeFileSync(join(this.directory, 'registries.conf'), text);
  }

  run(...words: readonly string[]): string {
    const [program = '', ...all] = [...this.#asUser, 'podman', ...this.#flags, ...words];
    return execFileSync(program, all, {
      env: this.#env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: this.directory,
    });
  }

  /** Resolves when the service answers. */
  async start(): Promise<void> {
    rmSync(this.socket, { force: true });
    const flags = [...this.#flags, 'system', 'service', '--time=0', `unix://${this.socket}`];
    const [program = '', ...words] = [...this.#asUser, 'podman', ...flags];
    // It writes a note about containers that ran out of memory to its working directory.
    const cwd = this.directory;
    this.#service = spawn(program, words, { env: this.#env, stdio: 'ignore', cwd });
    await eventually(() => connects(this.socket));
  }

  /** Kills the service without notice; containers go on. */
  async kill(): Promise<void> {
    const service = this.#service;
    if (service === undefined || service.exitCode !== null || service.signalCode !== null) return;
    const gone = new Promise((resolve) => service.once('exit', resolve));
    service.kill('SIGKILL');
    await gone;
  }

  /** While frozen, it keeps its connections and answers nothing. */
  freeze(isFrozen: boolean): void {
    this.#service?.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  /** Names of all containers there are. */
  containers(): readonly string[] {
    return this.run('ps', '-a', '--format', '{{.Names}}').split('\n').filter(Boolean);
  }

  async close(): Promise<void> {
    await this.kill();
    this.run('rm', '-f', '-a', '-t', '0');
    // Without root, one process keeps the namespaces of all commands.
    if (this.#user !== undefined) this.run('system', 'migrate');
    // A process of each command in a container stays for five minutes, to tell the command's exit.
    await eventually(() => {
      const left = listPids().filter((pid) => commandLineOf(pid).includes(this.directory));
      for (const pid of left) process.kill(pid, 'SIGKILL');
      if (left.length > 0) throw new Error(`Podman left ${left.map(commandLineOf).join(', ')}`);
    });
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }

  get #flags(): readonly string[] {
    const at = (name: string) => join(this.directory, name);
    return [
      '--root',
      at('root'),
      '--runroot',
      at('run'),
      '--tmpdir',
      at('tmp'),
      '--storage-driver=vfs',
      '--runtime=runc',
      '--cgroup-manager=cgroupfs',
    ];
  }

  get #asUser(): readonly string[] {
    if (this.#user === undefined) return [];
    const { uid, gid } = this.#user;
    return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'];
  }

  get #env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      ...(this.#user !== undefined && { HOME: this.directory, XDG_RUNTIME_DIR: this.directory }),
      CONTAINERS_CONF: join(this.directory, 'containers.conf'),
      CONTAINERS_REGISTRIES_CONF: join(this.directory, 'registries.conf'),
    };
  }
}

const connects = (path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(path, () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });

function makeRoot(root: string, names: readonly string[]): string {
  for (const name of ['bin', 'etc', 'proc', 'sys', 'dev', 'tmp']) {
    mkdirSync(join(root, name), { recursive: true });
  }
  chmodSync(join(root, 'tmp'), 0o1777);
  const found = names.flatMap((name) => {
    const path = ['/bin', '/usr/bin'].map((place) => join(place, name)).find(existsSync);
    return path === undefined ? [] : [path];
  });
  for (const path of found)
    copyFileSync(realpathSync(path), join(root, 'bin', path.split('/').at(-1)!));
  const libraries = execFileSync('ldd', found, { encoding: 'utf8' }).matchAll(/(\/[^\s():]+)\s\(/g);
  for (const [, path] of libraries) {
    mkdirSync(dirname(join(root, path!)), { recursive: true });
    copyFileSync(realpathSync(path!), join(root, path!));
  }
  const users = 'root:x:0:0::/:/bin/sh\napp:x:1234:1235::/:/bin/sh\n';
  writeFileSync(join(root, 'etc/passwd'), users);
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\napp:x:1235:\n');
  return root;
}
