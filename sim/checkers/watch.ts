import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { deployments, jobs, nodes } from '../../src/state/tables.ts';
import type { Change, Stamps, TableDefinition } from '../../src/state/types.ts';
import { loopback, type Network, type Reply } from '../network.ts';
import { Process } from '../process.ts';
import { rootToken } from '../server.ts';
import type { Checker, Fault, Scene } from './checker.ts';

interface Item {
  readonly ID: string;
  readonly ModifyIndex: number;
}

/** A list, the part of a list with this beginning of the id, or the one with the id. */
interface Followed {
  readonly url: string;
  readonly definition: TableDefinition<Stamps & { readonly ID: string }>;
  readonly prefix: string;
}

const jobTable = jobs as unknown as Followed['definition'];
const nodeTable = nodes as unknown as Followed['definition'];
const deploymentTable = deployments as unknown as Followed['definition'];

const fromAfar: readonly Followed[] = [
  { url: '/v1/jobs', definition: jobTable, prefix: '' },
  { url: '/v1/nodes', definition: nodeTable, prefix: '' },
  { url: '/v1/deployments', definition: deploymentTable, prefix: '' },
];
/** After an answer; what changes meanwhile comes with the next one. */
const pauseMs = 5000;

/** On the server's own machine, a change is told of this soon. */
const promptMs = 1000;

export interface WatchOptions {
  readonly world: SimulatedWorld;
  readonly network: Network;
  /** Whose machine the near readers sit on. */
  readonly server: { readonly process: Process | undefined };
  readonly nodeIds: readonly string[];
}

/**
 * Readers that follow lists by blocking queries, over lost messages and restarts. At rest each has
 * seen the last of all changes, and what it was shown never went back. Those on the server's own
 * machine, whose messages are not lost, hear of each change at once.
 */
export function watchMissesNothing(options: WatchOptions): Checker {
  const [id = ''] = options.nodeIds;
  const near: readonly Followed[] = [
    { url: '/v1/jobs?prefix=batch', definition: jobTable, prefix: 'batch' },
    { url: `/v1/node/${id}`, definition: nodeTable, prefix: id },
  ];
  const readers = fromAfar.map((one) => new Reader(options, one, 'watcher', pauseMs));
  const probes = near.map((one) => new Reader(options, one, loopback, 1));
  return {
    guarantee: 'a watch misses nothing',
    committed(changes, index, { account, elapsedMs }, fault) {
      for (const reader of readers) {
        if (reader.isConcerned(changes)) reader.changedMs = elapsedMs;
      }
      for (const probe of probes) {
        if (probe.isConcerned(changes)) probe.expect(index, () => account.index, fault);
      }
    },
    rested(scene, fault) {
      for (const reader of [...readers, ...probes]) reader.compare(scene, fault);
    },
  };
}

class Reader {
  readonly #followed: Followed;
  readonly #options: WatchOptions;
  readonly #process: Process;
  readonly #machine: string;
  /** When something in its list changed, by the time since the start. */
  changedMs = -Infinity;
  #index = 0;
  #last: Reply | undefined;
  #fellBack: string | undefined;
  /** Whom it asked last. */
  #asked: Process | undefined;
  /** Something is expected to be heard of, and looked after. */
  #isExpecting = false;

  constructor(options: WatchOptions, followed: Followed, machine: string, waitMs: number) {
    this.#followed = followed;
    this.#options = options;
    this.#machine = machine;
    this.#process = new Process(options.world);
    const { timers } = this.#process.world;
    const again = () => {
      this.#turn().then(
        () => timers.after(waitMs, again),
        () => timers.after(500, again),
      );
    };
    again();
  }

  async #turn(): Promise<void> {
    const { url } = this.#followed;
    const wait = `${url.includes('?') ? '&' : '?'}index=${this.#index}&wait=60s`;
    const call = { method: 'GET', token: rootToken, patienceMs: 75_000 };
    const asked = { ...call, url: this.#index === 0 ? url : `${url}${wait}` };
    this.#asked = this.#options.server.process;
    this.#take(await this.#options.network.call(this.#process, this.#machine, asked));
  }

  #take(reply: Reply): void {
    const { status, index } = reply;
    // What is followed may not be there for a while.
    if (status !== 200 && status !== 404) throw new Error(`${status}`);
    if (index < this.#index) {
      this.#fellBack ??= `the index of ${this.#followed.url} fell from ${this.#index} to ${index}`;
    }
    this.#index = index;
    this.#last = reply;
  }

  isConcerned(changes: readonly Change[]): boolean {
    const { definition, prefix } = this.#followed;
    return changes.some(({ table, before, after }) => {
      if (table !== definition.name) return false;
      return ((after ?? before) as unknown as Item).ID.startsWith(prefix);
    });
  }

  /** The reader has to hear of a change that was committed just now, unless the server dies. */
  expect(index: number, newest: () => number, fault: Fault): void {
    if (this.#isExpecting) return;
    this.#isExpecting = true;
    const { world, server } = this.#options;
    const { process } = server;
    const hadIndex = this.#index;
    const asked = this.#asked;
    world.timers.after(promptMs, () => {
      this.#isExpecting = false;
      const isSame =
        server.process === process && asked === process && (process?.awakeMs ?? 0) > 2 * promptMs;
      // One that has just come back, or woken up, is not yet listened to.
      if (!isSame || hadIndex === 0 || this.#index >= index || newest() < index) return;
      fault(`nobody told the reader of ${this.#followed.url} of ${index}: it is at ${this.#index}`);
    });
  }

  get #seen(): readonly Item[] {
    if (this.#last?.status !== 200) return [];
    const { json } = this.#last;
    return Array.isArray(json) ? json : [json];
  }

  compare({ account, elapsedMs }: Scene, fault: Fault): void {
    if (this.#fellBack !== undefined) fault(this.#fellBack);
    // The reader pauses between two questions, and some jobs never come to rest.
    if (elapsedMs - this.changedMs < pauseMs + promptMs) return;
    const { url, definition, prefix } = this.#followed;
    const told = new Map(this.#seen.map(({ ID, ModifyIndex }) => [ID, ModifyIndex]));
    for (const { ID, ModifyIndex } of account.rows(definition).values()) {
      if (!ID.startsWith(prefix)) continue;
      const last = told.get(ID);
      told.delete(ID);
      if (last === ModifyIndex) continue;
      fault(`${ID} is at ${ModifyIndex}, the reader of ${url} saw ${last ?? 'none'}`);
    }
    for (const ID of told.keys()) fault(`${ID} is gone, the reader of ${url} still sees it`);
  }
}
