/** Members of etcd on this machine, for tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

interface Member {
  readonly name: string;
  readonly clientPort: number;
  readonly peerPort: number;
  process: ChildProcess | undefined;
}

/** A cluster of etcd. */
export class EtcdCluster {
  readonly #directory = mkdtempSync(join(tmpdir(), 'etcd-'));
  readonly #members: readonly Member[];
  readonly #clients = new Set<GrpcEtcdClient>();

  readonly #tls: EtcdTls | undefined;

  private constructor(members: readonly Member[], tls: EtcdTls | undefined) {
    this.#members = members;
    this.#tls = tls;
  }

  static async start(count: number, tls?: EtcdTls): Promise<EtcdCluster> {
    const ports = await freePorts(2 * count);
    const members = Array.from({ length: count }, (_, at) => ({
      name: `member-${at}`,
      clientPort: ports[2 * at]!,
      peerPort: ports[2 * at + 1]!,
      process: undefined,
    }));
    const cluster = new EtcdCluster(members, tls);
    for (const at of members.keys()) cluster.run(at);
    await cluster.ready();
    return cluster;
  }

  get endpoints(): string[] {
    return this.#members.map(({ clientPort }) => `127.0.0.1:${clientPort}`);
  }

  /** A client that ends with the cluster. */
  client(options: Partial<GrpcEtcdOptions> = {}): GrpcEtcdClient {
    const address = { endpoints: this.endpoints, tls: this.#tls?.client };
    const client = new GrpcEtcdClient({ ...realWorld, ...address, ...options });
    this.#clients.add(client);
    return client;
  }

  /** Starts a member, or starts it again. */
  run(at: number): void {
    const member = this.#members[at]!;
    const url = (port: number) => `http://127.0.0.1:${port}`;
    const clientUrl = url(member.clientPort).replace('http', this.#tls ? 'https' : 'http');
    const peers = this.#members.map(({ name, peerPort }) => `${name}=${url(peerPort)}`).join(',');
    const options = {
      name: member.name,
      'data-dir': join(this.#directory, member.name),
      'listen-client-urls': clientUrl,
      'advertise-client-urls': clientUrl,
      'listen-peer-urls': url(member.peerPort),
      'initial-advertise-peer-urls': url(member.peerPort),
      'initial-cluster': peers,
      'log-level': 'error',
      ...(this.#tls && this.#tlsOptions(this.#tls)),
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

  /** Calls the JSON gateway, for what the client of the engine does not do. */
  async call(path: string, body: object): Promise<void> {
    const answer = await fetch(`http://${this.endpoints[0]}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) await client.close();
    for (const at of this.#members.keys()) await this.kill(at);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const readyMs = 30_000;
const pauseMs = 50;

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
