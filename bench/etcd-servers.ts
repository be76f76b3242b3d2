/** Servers that share a log in etcd, as processes of their own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EtcdCluster } from '../test/support/etcd.ts';
import { type RunningAgent, startAgent } from './agent.ts';
import { until } from './benchmark.ts';
import { ask } from './target.ts';

export interface EtcdServersOptions {
  readonly folder: string;
  readonly etcd: EtcdCluster;
  readonly token: string;
  /** More settings of etcd, as in a configuration file. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Added to the environment of the benchmark. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Roles {
  readonly leader: RunningAgent;
  readonly followers: readonly RunningAgent[];
}

export class EtcdServers {
  readonly agents: RunningAgent[] = [];
  readonly #options: EtcdServersOptions;

  constructor(options: EtcdServersOptions) {
    this.#options = options;
  }

  /** Starts a server, or starts it again. */
  async start(number: number): Promise<void> {
    const { folder, etcd, token, settings, environment = {} } = this.#options;
    const directory = join(folder, `server-${number}`);
    mkdirSync(directory, { recursive: true });
    const keyFile = join(directory, 'given-key');
    writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'));
    const config = join(directory, 'agent.json');
    const content = {
      engine: 'etcd',
      etcd: { endpoints: etcd.endpoints, ...settings },
      keyring: { root_key_file: keyFile },
      node: { name: `node-${number}` },
    };
    writeFileSync(config, JSON.stringify(content));
    const dataDirectory = join(directory, 'data');
    this.agents[number] = await startAgent({ dataDirectory, config, token, environment });
  }

  /** Resolves with the leader and the others once all servers name it. */
  roles(): Promise<Roles> {
    return until('one leader', async () => {
      const told = await Promise.all(
        this.agents.map(({ target }) => ask(target, 'GET', '/v1/status/leader')),
      );
      const addresses = new Set(told.map(({ body }) => JSON.parse(body.toString()) as string));
      const [address] = addresses;
      const leader = this.agents.find(({ target }) => address === `${target.host}:${target.port}`);
      if (addresses.size !== 1 || leader === undefined) return undefined;
      return { leader, followers: this.agents.filter((agent) => agent !== leader) };
    });
  }
}
