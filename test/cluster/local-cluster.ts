/** Etcd, servers and nodes on this machine, each a process with its own directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { realWorld } from '../../src/base/ports-real.ts';
import { secondMs } from '../../src/base/units.ts';
import { type Client, createClient } from '../../src/sdk/client.ts';
import { etcdPath } from '../../tools/etcd.mjs';

const command = fileURLToPath(new URL('../../bin/roster', import.meta.url));

const counts = { etcd: 3, servers: 3, nodes: 2 } as const;
const startingMaxMs = 120_000;
const pauseMs = 100;
/** Longer than the lease of a leader, so that another server leads by then. */
export const awayMs = 15_000;

/** What a kept directory remembers, so that the same cluster starts again. */
interface Kept {
  readonly rootToken: string;
  readonly rootKey: string;
  readonly serverPorts: readonly number[];
  /** Of each member of etcd, for clients and for the other members. */
  readonly etcdPorts: readonly (readonly [number, number])[];
}

/**
 * Invariants
 *  C1. Every process is in a group of its own, so that Ctrl-C reaches this one alone, which ends nodes,
 *      servers and etcd in this order.
 *  C2. Nothing is left when `stop` has resolved, or when this process exits.
 *  C3. A process that ends by itself once all were ready is started again after `awayMs`, as a service manager would do.
 */
export class LocalCluster {
  readonly directory: string;
  readonly isKept: boolean;
  #kept!: Kept;
  #client: Client | undefined;
  readonly #programs = { etcd: [] as Program[], servers: [] as Program[], nodes: [] as Program[] };
  readonly #failed = Promise.withResolvers<string>();
  readonly #tell: (sentence: string) => void;
  #isReady = false;
  #isStopped = false;

  /** @param tell told of each process that has ended by itself, and is started again */
  constructor(directory: string | undefined, tell: (sentence: string) => void) {
    this.#tell = tell;
    this.isKept = directory !== undefined;
    this.directory = directory
      ? resolve(directory)
      : mkdtempSync(join(tmpdir(), 'roster-cluster-'));
    process.once('exit', () => this.#killAll());
  }

  get servers(): readonly string[] {
    return this.#kept.serverPorts.map((port) => `http://127.0.0.1:${port}`);
  }

  get rootToken(): string {
    return this.#kept.rootToken;
  }

  /** The process of the first server. */
  get pid(): number | undefined {
    return this.#programs.servers[0]?.pid;
  }

  /** Resolves when all servers and nodes are ready. */
  async start(): Promise<void> {
    this.#kept = await this.#read();
    for (let at = 0; at < counts.etcd; at++) this.#startEtcd(at);
    await this.#untilDone(async () => {
      const told = await Promise.all(this.#etcdAddresses.map((at) => fetch(`http://${at}/health`)));
      return told.every(({ ok }) => ok);
    });
    for (let at = 0; at < counts.servers; at++) this.#startServer(at);
    const client = createClient({ address: this.servers, token: this.rootToken });
    this.#client = client;
    await this.#untilDone(async () => {
      const { value } = await client.status.servers();
      const alive = value.filter(({ Status }) => Status === 'alive');
      return alive.length === counts.servers && alive.some(({ Leader }) => Leader);
    });
    for (let at = 0; at < counts.nodes; at++) await this.#startNode(client, at);
    await this.#untilDone(async () => {
      const { value } = await client.nodes.list();
      return value.filter(({ Status }) => Status === 'ready').length >= counts.nodes;
    });
    this.#isReady = true;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#client?.close();
    const { etcd, servers, nodes } = this.#programs;
    for (const programs of [nodes, servers, etcd]) {
      await Promise.all(programs.map((program) => program.stop()));
    }
    if (!this.isKept) rmSync(this.directory, { recursive: true, force: true });
  }

  #path(...names: readonly string[]): string {
    return join(this.directory, ...names);
  }

  async #read(): Promise<Kept> {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const path = this.#path('cluster.json');
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Kept;
    const ports = await freePorts(counts.servers + 2 * counts.etcd);
    const kept: Kept = {
      rootToken: randomUUID(),
      rootKey: randomBytes(32).toString('base64'),
      serverPorts: ports.splice(0, counts.servers),
      etcdPorts: Array.from({ length: counts.etcd }, () => [ports.pop()!, ports.pop()!]),
    };
    writeFileSync(path, JSON.stringify(kept), { mode: 0o600 });
    return kept;
  }

  get #etcdAddresses(): readonly string[] {
    return this.#kept.etcdPorts.map(([port]) => `127.0.0.1:${port}`);
  }

  #startEtcd(at: number): void {
    const url = (port: number) => `http://127.0.0.1:${port}`;
    const { etcdPorts } = this.#kept;
    const [clientPort, peerPort] = etcdPorts[at]!;
    const name = (member: number) => `etcd-${member + 1}`;
    const options = {
      name: name(at),
      'data-dir': this.#path(name(at)),
      'listen-client-urls': url(clientPort),
      'advertise-client-urls': url(clientPort),
      'listen-peer-urls': url(peerPort),
      'initial-advertise-peer-urls': url(peerPort),
      'initial-cluster': etcdPorts.map(([, port], of) => `${name(of)}=${url(port)}`).join(','),
      'log-level': 'warn',
    };
    const words = Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]);
    this.#launchProgram('etcd', name(at), { file: etcdPath(), words });
  }

  #startServer(at: number): void {
    const { rootToken, rootKey, serverPorts } = this.#kept;
    const name = `server-${at + 1}`;
    const configuration = {
      engine: 'etcd',
      server_only: true,
      http: `127.0.0.1:${serverPorts[at]}`,
      data_dir: this.#path(name),
      etcd: { endpoints: this.#etcdAddresses },
      node: { name },
    };
    const env = { ROSTER_ROOT_KEY: rootKey, ROSTER_ROOT_TOKEN: rootToken };
    this.#launchProgram('servers', name, this.#agent(name, configuration, env));
  }

  async #startNode(client: Client, at: number): Promise<void> {
    const name = `node-${at + 1}`;
    const introduction = this.#path(`${name}.introduction`);
    const { value } = await client.introductionTokens.create({});
    writeFileSync(introduction, value.SecretID, { mode: 0o600 });
    const configuration = {
      servers: this.servers,
      data_dir: this.#path(name),
      introduction_token_file: introduction,
      tasks_on_exit: 'stop',
      drivers: { allow: ['raw_exec'] },
      // The nodes share the ports of this machine.
      node: { name, min_dynamic_port: 20_000 + at * 1000, max_dynamic_port: 20_999 + at * 1000 },
    };
    this.#launchProgram('nodes', name, this.#agent(name, configuration));
  }

  #agent(name: string, configuration: object, env: NodeJS.ProcessEnv = {}): Launch {
    const path = this.#path(`${name}.json`);
    writeFileSync(path, JSON.stringify(configuration, null, 2), { mode: 0o600 });
    return { file: command, words: ['agent', '--config', path], env };
  }

  #launchProgram(kind: keyof typeof counts, name: string, launch: Launch): void {
    if (this.#isStopped) return;
    const program = new Program(launch, this.#path(`${name}.log`));
    this.#programs[kind].push(program);
    void program.ended.then((code) => {
      if (this.#isStopped) return;
      if (this.#isReady) this.#launchLater(kind, name, launch);
      else this.#failed.resolve(`${name} ended with exit code ${code}:\n${program.lastLines()}`);
    });
  }

  /** C3. */
  #launchLater(kind: keyof typeof counts, name: string, launch: Launch): void {
    const { timers } = realWorld;
    this.#tell(`${name} has ended. It starts again in ${awayMs / secondMs} seconds.`);
    timers.after(awayMs, () => this.#launchProgram(kind, name, launch));
  }

  async #untilDone(isDone: () => Promise<boolean>): Promise<void> {
    const { clock, timers } = realWorld;
    const endMs = clock.monotonicMs() + startingMaxMs;
    const failed = this.#failed.promise.then((reason) => {
      throw new Error(reason);
    });
    failed.catch(() => {});
    for (;;) {
      const outcome = await Promise.race([isDone().catch((error: Error) => error), failed]);
      if (outcome === true || this.#isStopped) return;
      if (clock.monotonicMs() > endMs) {
        const reason = outcome instanceof Error ? `: ${outcome.message}` : '';
        throw new Error(`the cluster was not ready after two minutes${reason}`);
      }
      await new Promise<void>((next) => timers.after(pauseMs, next));
    }
  }

  #killAll(): void {
    for (const program of Object.values(this.#programs).flat()) program.kill();
  }
}

interface Launch {
  readonly file: string;
  readonly words: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** A process, whose output goes to a file. */
class Program {
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #log: string;

  constructor({ file, words, env }: Launch, log: string) {
    const { PATH, HOME } = process.env;
    const output = openSync(log, 'a');
    this.#log = log;
    this.#child = spawn(file, words, {
      detached: true,
      env: { PATH, HOME, ...env },
      stdio: ['ignore', output, output],
    });
    this.ended = new Promise((done) => this.#child.once('exit', done));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  lastLines(): string {
    return readFileSync(this.#log, 'utf8').split('\n').slice(-10).join('\n');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    await this.ended;
  }

  kill(): void {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
  }
}

async function freePorts(count: number): Promise<number[]> {
  const holders = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(holders.map((holder) => once(holder, 'listening')));
  const ports = holders.map((holder) => (holder.address() as AddressInfo).port);
  await Promise.all(holders.map((holder) => new Promise((closed) => holder.close(closed))));
  return ports;
}
