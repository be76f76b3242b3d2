/** Members of etcd on this machine, for tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Need } from '../../src/base/not-run.test-helper.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { GrpcEtcdClient, type GrpcEtcdOptions } from '../../src/state/engine/etcd/grpc-client.ts';
import { etcdPath } from '../../tools/etcd.mjs';

export const etcdServer: Need = {
  isMet: existsSync(etcdPath()),
  otherwise:
    'they need etcd: install Go, with which "npm test" builds it, or name its program in the variable ETCD',
};

/** All in PEM. */
export interface EtcdTls {
  readonly server: {
    readonly certificate: string;
    readonly privateKey: string;
    readonly authorities: string;
  };
  readonly client: NonNullable<GrpcEtcdOptions['tls']>;
}

export interface EtcdClusterOptions {
  readonly tls?: EtcdTls;
  /** Where the data is stored; the default is a new directory. */
  readonly directory?: string;
  /** The address for the other members in place of the member's own one. */
  readonly between?: (peerPort: number) => Promise<string>;
  /** More options of etcd for every member. */
  readonly flags?: Readonly<Record<string, string>>;
}

interface Member {
  readonly name: string;
  readonly clientPort: number;
  readonly peerPort: number;
  /** `host:port` for the other members. */
  readonly peerAddress: string;
  process: ChildProcess | undefined;
}

/** A cluster of etcd. */
export class EtcdCluster {
  readonly #directory: string;
  readonly #members: readonly Member[];
  readonly #clients = new Set<GrpcEtcdClient>();

  readonly #tls: EtcdTls | undefined;

  private constructor(members: readonly Member[], { tls, directory }: EtcdClusterOptions) {
    this.#members = members;
    this.#directory = directory ?? mkdtempSync(join(tmpdir(), 'etcd-'));
    this.#tls = tls;
  }

  static async start(count: number, options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
    const ports = await freePorts(2 * count);
    const { between = async (port: number) => `127.0.0.1:${port}` } = options;
    const members = await Promise.all(
      Array.from({ length: count }, async (_, at) => ({
        name: `member-${at}`,
        clientPort: ports[2 * at]!,
        peerPort: ports[2 * at + 1]!,
        peerAddress: await between(ports[2 * at + 1]!),
        process: undefined,
      })),
    );
    const cluster = new EtcdCluster(members, options);
    for (const at of members.keys()) cluster.run(at, options.flags);
    await cluster.ready();
    return cluster;
  }

  get endpoints(): string[] {
    return this.#members.map(({ clientPort }) => `127.0.0.1:${clientPort}`);
  }

  /** The processes of the members that run. */
  get pids(): number[] {
    return this.#members.flatMap(({ process }) => process?.pid ?? []);
  }

  /** A client that ends with the cluster. */
  client(options: Partial<GrpcEtcdOptions> = {}): GrpcEtcdClient {
    const address = { endpoints: this.endpoints, tls: this.#tls?.client };
    const client = new GrpcEtcdClient({ ...realWorld, ...address, ...options });
    this.#clients.add(client);
    return client;
  }

  /** Starts a member, or starts it again. @param flags more options of etcd */
  run(at: number, flags: Readonly<Record<string, string>> = {}): void {
    const member = this.#members[at]!;
    const clientUrl = `${this.#tls ? 'https' : 'http'}://127.0.0.1:${member.clientPort}`;
    const peers = this.#members.map(({ name, peerAddress }) => `${name}=http://${peerAddress}`);
    const options = {
      name: member.name,
      'data-dir': join(this.#directory, member.name),
      'listen-client-urls': clientUrl,
      'advertise-client-urls': clientUrl,
      'listen-peer-urls': `http://127.0.0.1:${member.peerPort}`,
      'initial-advertise-peer-urls': `http://${member.peerAddress}`,
      'initial-cluster': peers.join(','),
      'log-level': 'error',
      ...(this.#tls && this.#tlsOptions(this.#tls)),
      ...flags,
    };
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    if (this.#tls !== undefined) words.push('--client-cert-auth');
    member.process = spawn(etcdPath(), words, { stdio: 'ignore' });
  }

  /** It takes clients with a certificate alone. */
  #tlsOptions({ server }: EtcdTls): Readonly<Record<string, string>> {
    const stored = Object.entries(server).map(([name, pem]) => {
      const path = join(this.#directory, name);
      writeFileSync(path, pem);
      return path;
    });
    const [certificate = '', key = '', authorities = ''] = stored;
    return { 'cert-file': certificate, 'key-file': key, 'trusted-ca-file': authorities };
  }

  /** Resolves when the cluster answers linearizable reads. */
  async ready(): Promise<void> {
    const client = this.client();
    const endMs = realWorld.clock.monotonicMs() + readyMs;
    for (;;) {
      try {
        await client.range({ key: 'ready' });
        return;
      } catch (error) {
        if (realWorld.clock.monotonicMs() > endMs) throw error;
        await new Promise<void>((resolve) => realWorld.timers.after(pauseMs, resolve));
      }
    }
  }

  /** Ends a member as a crash does. */
  async kill(at: number): Promise<void> {
    const member = this.#members[at]!;
    const { process: running } = member;
    member.process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await gone;
  }

  /** Stops a member, or lets it go on. */
  signal(at: number, name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#members[at]!.process?.kill(name);
  }

  isRunning(at: number): boolean {
    const { process: running } = this.#members[at]!;
    return running !== undefined && running.exitCode === null && running.signalCode === null;
  }

  /** Copies what the members have stored. They are away meanwhile. */
  async backUp(): Promise<void> {
    await this.#whileAway((stored, backup) => cpSync(stored, backup, { recursive: true }));
  }

  /** Brings back what the members had stored at the last backup. */
  async restore(): Promise<void> {
    await this.#whileAway((stored, backup) => {
      rmSync(stored, { recursive: true });
      cpSync(backup, stored, { recursive: true });
    });
  }

  async #whileAway(change: (stored: string, backup: string) => void): Promise<void> {
    for (const at of this.#members.keys()) await this.kill(at);
    for (const { name } of this.#members) {
      change(join(this.#directory, name), join(this.#directory, `${name}.backup`));
    }
    for (const at of this.#members.keys()) this.run(at);
    await this.ready();
  }

  /**
   * Calls the JSON gateway, for what the client of the engine does not do.
   * @param token the answer of `auth/authenticate`, for an etcd with users
   */
  async call(path: string, body: object, at = 0, token?: string): Promise<unknown> {
    const answer = await fetch(`http://${this.endpoints[at]}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      ...(token !== undefined && { headers: { authorization: token } }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) await client.close();
    for (const at of this.#members.keys()) await this.kill(at);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const readyMs = 30_000;
const pauseMs = 50;

/**
 * Ports that nobody listens at. They lie below those that the system gives to connections, so that a member
 * finds its port free again after a crash.
 */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = 10_000 + randomInt(20_000);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
