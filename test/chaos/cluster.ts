/** Three members of etcd, three servers and two nodes, all of them behind links that can fail. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EtcdCluster, freePorts } from '../support/etcd.ts';
import type { Choices } from '../support/random.ts';
import { ChaosAgent, type Clock } from './agent.ts';
import { Link } from './link.ts';

export const size = 3;
const nodeCount = 2;
const numbers = Array.from({ length: size }, (_, number) => number);

export interface ChaosClusterOptions {
  readonly folder: string;
  /** The program of the agents. */
  readonly command: string;
  readonly choices: Choices;
  readonly violation: (sentence: string) => void;
}

/** Debian's package `libfaketime` has it. */
export const clockLibrary = [
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`,
].find((path) => existsSync(path));

const rates = [0.7, 0.9, 1.1, 1.4];

export class ChaosCluster {
  readonly token = randomUUID();
  readonly #options: ChaosClusterOptions;
  readonly etcd: EtcdCluster;
  /** From each server to each member. */
  readonly toMembers: readonly (readonly Link[])[];
  /** From clients and nodes to each server. */
  readonly toServers: readonly Link[];
  /** From the other servers to each server. */
  readonly amongServers: readonly Link[];
  /** From the other members to each member. */
  readonly amongMembers: readonly Link[];
  readonly servers: readonly ChaosAgent[];
  readonly nodes: ChaosAgent[] = [];
  /** Starts with a clock that is too fast or too slow. */
  clockRates = 0;

  private constructor(
    options: ChaosClusterOptions,
    etcd: EtcdCluster,
    links: Pick<ChaosCluster, 'toMembers' | 'toServers' | 'amongServers' | 'amongMembers'>,
    ports: readonly number[],
  ) {
    this.#options = options;
    this.etcd = etcd;
    this.toMembers = links.toMembers;
    this.toServers = links.toServers;
    this.amongServers = links.amongServers;
    this.amongMembers = links.amongMembers;
    this.servers = numbers.map((number) => this.#server(number, ports[number]!));
  }

  /** Resolves when etcd answers. The servers start, and may not be ready yet. */
  static async start(options: ChaosClusterOptions): Promise<ChaosCluster> {
    const amongMembers: Link[] = [];
    const etcd = await EtcdCluster.start(size, {
      directory: join(options.folder, 'etcd'),
      between: async (port) => {
        const link = await Link.to(port);
        amongMembers.push(link);
        return link.address;
      },
    });
    const linkTo = (address: string | number) => Link.to(Number(`${address}`.split(':').at(-1)));
    const ports = await freePorts(size);
    const all = <T, R>(items: readonly T[], of: (item: T) => Promise<R>) =>
      Promise.all(items.map(of));
    const links = {
      amongMembers,
      toMembers: await all(numbers, () => all(etcd.endpoints, linkTo)),
      toServers: await all(ports, linkTo),
      amongServers: await all(ports, linkTo),
    };
    const cluster = new ChaosCluster(options, etcd, links, ports);
    for (const server of cluster.servers) server.start();
    return cluster;
  }

  /** Addresses of the servers for clients. */
  get addresses(): string[] {
    return this.toServers.map(({ address }) => address);
  }

  /** The server with this address for the other servers; -1 if there is none. */
  numberAt(address: string): number {
    return this.amongServers.findIndex((link) => link.address === address);
  }

  /** Starts the nodes. `introduce` makes a token for one of them. */
  async startNodes(introduce: () => Promise<string>): Promise<void> {
    for (let number = 0; number < nodeCount; number++) {
      const directory = this.#directoryOf(`node-${number}`);
      const tokenFile = join(directory, 'introduction');
      writeFileSync(tokenFile, await introduce(), { mode: 0o600 });
      const servers = this.addresses.map((address) => `http://${address}`);
      const words = [
        'agent',
        '--servers',
        servers.join(','),
        '--data-dir',
        directory,
        '--node-name',
        `node-${number}`,
        '--introduction-token-file',
        tokenFile,
        '--allow-drivers',
        'raw_exec',
        '--log-level',
        'warn',
      ];
      const node = this.#agent(`node-${number}`, words);
      this.nodes.push(node);
      node.start();
    }
  }

  /** Ends every network fault. */
  mend(): void {
    for (const link of this.#links()) link.mend();
  }

  async close(): Promise<void> {
    for (const agent of [...this.nodes, ...this.servers]) {
      agent.resume();
      await agent.kill();
      agent.close();
    }
    await this.etcd.stop();
    for (const link of this.#links()) await link.close();
  }

  #links(): readonly Link[] {
    return [
      ...this.toMembers.flat(),
      ...this.toServers,
      ...this.amongServers,
      ...this.amongMembers,
    ];
  }

  #server(number: number, port: number): ChaosAgent {
    const name = `server-${number}`;
    const directory = this.#directoryOf(name);
    const keyFile = join(directory, 'root-key');
    writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'));
    const config = join(directory, 'agent.json');
    writeFileSync(config, JSON.stringify({ keyring: { root_key_file: keyFile } }));
    const members = this.toMembers[number]!.map(({ address }) => address);
    // Each server begins with another member.
    const endpoints = [...members.slice(number), ...members.slice(0, number)].join(',');
    const words = [
      'agent',
      '--server-only',
      '--http',
      `127.0.0.1:${port}`,
      '--data-dir',
      directory,
      '--engine',
      'etcd',
      '--etcd-endpoints',
      endpoints,
      '--config',
      config,
      '--cluster-advertise',
      this.amongServers[number]!.address,
      '--root-token',
      this.token,
      '--log-level',
      'warn',
    ];
    return this.#agent(name, words, () => this.#drawClock(directory));
  }

  #agent(name: string, words: readonly string[], clock?: () => Clock): ChaosAgent {
    const { command, folder, violation } = this.#options;
    return new ChaosAgent({
      name,
      command,
      words,
      logFile: join(folder, `${name}.log`),
      violation,
      clockLibrary,
      ...(clock && { clock }),
    });
  }

  /** A process has a clock that can be stepped, or one with another rate. */
  #drawClock(directory: string): Clock {
    const { choices } = this.#options;
    if (choices.fraction() < 0.6) return { file: join(directory, 'clock') };
    this.clockRates++;
    return { rate: rates[choices.below(rates.length)]! };
  }

  #directoryOf(name: string): string {
    const path = join(this.#options.folder, name);
    mkdirSync(path);
    return path;
  }
}
