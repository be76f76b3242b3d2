import { delay } from '../../../base/ports.ts';
import { secondMs } from '../../../base/units.ts';
import type { LogLevel } from '../../../model/monitor/log-level.ts';
import type { AgentOptions } from '../../../sdk/client.ts';
import type { Context } from '../../context.ts';
import { explainError } from '../../errors.ts';
import { cliLimits } from '../../limits.ts';
import type { DebugArchive } from './archive.ts';

export interface DebugWish {
  readonly durationMs: number;
  readonly intervalMs: number;
  readonly level: LogLevel;
  /** Ids of servers and nodes. */
  readonly servers: readonly string[];
  readonly nodes: readonly string[];
}

/**
 * Fills an archive for the diagnosis of a cluster.
 *
 * Invariants
 *  D1. Only requests whose answers hold no secrets are made: no job, variable, token, policy or configuration entry is in the
 *      archive.
 *  D2. A request that fails is noted, and the others go on.
 *  D3. When the signal aborts, the archive has all that came until then.
 */
export class Capture {
  readonly #context: Context;
  readonly #archive: DebugArchive;
  readonly #wish: DebugWish;
  readonly #signal: AbortSignal;

  constructor(context: Context, archive: DebugArchive, wish: DebugWish, signal: AbortSignal) {
    this.#context = context;
    this.#archive = archive;
    this.#wish = wish;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { servers, nodes, durationMs } = this.#wish;
    await this.#cluster();
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#signal]);
    const ofServers = servers.map((server) => [pathOf(server), { server }] as const);
    const ofNodes = nodes.map((node) => [`nodes/${node}`, { node }] as const);
    const followed = [...ofServers, ...ofNodes].map(([path, agent]) =>
      this.#log(`${path}/monitor.log`, agent, signal),
    );
    // A server and its node may be one process.
    const profiled = this.#profiles(ofServers).then(() => this.#profiles(ofNodes));
    await this.#rounds();
    await profiled;
    over.abort();
    await Promise.all(followed);
    await this.#progress(
      `Captured ${this.#archive.members.length} files in ${durationMs / secondMs} s.`,
    );
  }

  /** What changes little. */
  async #cluster(): Promise<void> {
    const { client } = this.#context;
    const { servers, nodes } = this.#wish;
    await this.#addAnswer('cluster/scheduler-configuration.json', (options) =>
      client.scheduler.configuration(options),
    );
    await this.#addAnswer('cluster/upgrade.json', (options) => client.upgrade.read(options));
    await this.#addAnswer('cluster/nodes.json', (options) => client.nodes.list(options));
    for (const server of servers) {
      await this.#addAnswer(`${pathOf(server)}/self.json`, (options) =>
        client.agent.self({ ...options, server }),
      );
    }
    for (const node of nodes) {
      await this.#addAnswer(`nodes/${node}/node.json`, (options) =>
        client.nodes.read(node, options),
      );
    }
  }

  /** Measures all again and again. */
  async #rounds(): Promise<void> {
    const { durationMs, intervalMs } = this.#wish;
    const { clock, timers } = this.#context.environment;
    const startMs = clock.monotonicMs();
    const count = Math.max(1, Math.ceil(durationMs / intervalMs));
    for (let round = 1; !this.#signal.aborted; round++) {
      await this.#progress(`Round ${round} of ${count} …`);
      await this.#round(String(round).padStart(4, '0'));
      const nextMs = Math.min(startMs + round * intervalMs, startMs + durationMs);
      await delay(timers, Math.max(0, nextMs - clock.monotonicMs()), this.#signal);
      if (clock.monotonicMs() >= startMs + durationMs) return;
    }
  }

  async #round(number: string): Promise<void> {
    const { client } = this.#context;
    const { servers, nodes } = this.#wish;
    await this.#addAnswer(`rounds/${number}/members.json`, (options) =>
      client.status.servers(options),
    );
    await this.#addAnswer(`rounds/${number}/health.json`, (options) =>
      client.status.health(options),
    );
    for (const server of servers) {
      await this.#addAnswer(`rounds/${number}/metrics-${server || asked}.json`, (options) =>
        client.agent.metrics({ ...options, server }),
      );
    }
    for (const node of nodes) {
      await this.#addAnswer(`rounds/${number}/usage-${node}.json`, (options) =>
        client.nodes.usage(node, options),
      );
    }
  }

  async #log(name: string, agent: AgentOptions, signal: AbortSignal): Promise<void> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    try {
      const { level } = this.#wish;
      for await (const part of this.#context.client.agent.monitor({ ...agent, level, signal })) {
        bytes += part.length;
        if (bytes > cliLimits.debug.logBytesMax) {
          this.#noteMissing(name, `The log was cut after ${bytes - part.length} bytes.`);
          break;
        }
        parts.push(part);
      }
    } catch (error) {
      if (!signal.aborted) this.#noteMissing(name, reasonOf(error));
    }
    if (parts.length > 0) await this.#archive.add(name, Buffer.concat(parts));
  }

  /** An agent takes one profile at a time. */
  async #profiles(
    agents: readonly (readonly [path: string, agent: AgentOptions])[],
  ): Promise<void> {
    const quarter = Math.floor(this.#wish.durationMs / 4 / secondMs);
    const seconds = Math.min(Math.max(quarter, 1), cliLimits.debug.profileSecondsMax);
    const { agent: api } = this.#context.client;
    const take = async (path: string, agent: AgentOptions) => {
      for (const [kind, name] of profiles) {
        const file = `${path}/${name}`;
        await this.#orNote(file, async () => {
          const profile = await api.profile(kind, { ...agent, seconds, signal: this.#signal });
          await this.#archive.add(file, profile);
        });
      }
    };
    await Promise.all(agents.map(([path, agent]) => take(path, agent)));
  }

  #addAnswer(name: string, read: Read): Promise<void> {
    return this.#orNote(name, async () => {
      const { value } = await read({ signal: this.#signal });
      await this.#archive.addJson(name, value);
    });
  }

  async #orNote(name: string, take: () => Promise<void>): Promise<void> {
    if (this.#signal.aborted) return;
    try {
      await take();
    } catch (error) {
      if (!this.#signal.aborted) this.#noteMissing(name, reasonOf(error));
    }
  }

  #noteMissing(Name: string, Reason: string): void {
    this.#archive.missing.push({ Name, Reason });
  }

  async #progress(sentence: string): Promise<void> {
    const { environment, notes, isJson } = this.#context;
    if (environment.stderr.isTerminal && !isJson) await notes.line(sentence);
  }
}

/** The name of a server whose id is not known, since it may not be read. */
const asked = 'asked';

const pathOf = (server: string): string => `servers/${server || asked}`;

type Read = (options: { readonly signal: AbortSignal }) => Promise<{ readonly value: unknown }>;

const profiles = [
  ['cpu', 'cpu.cpuprofile'],
  ['heap', 'heap.heapprofile'],
] as const;

/** @throws unknown a bug */
function reasonOf(error: unknown): string {
  const explained = explainError(error);
  if (explained === undefined) throw error;
  return explained.message;
}
