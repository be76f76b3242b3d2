/** Everything between clusters that peer: users who peer them, faults of their lines, and checks. */
import type { Random } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { Client } from '../client.ts';
import type { Cluster } from '../cluster.ts';
import { guarantees } from '../judges.ts';
import type { Trace } from '../trace.ts';
import { PeerJudges } from './judges.ts';
import { LineFaults } from './line-faults.ts';
import { People } from './people.ts';
import type { Wires } from './wires.ts';

export interface PeersOptions {
  readonly world: SimulatedWorld;
  readonly clusters: readonly Cluster[];
  readonly wires: Wires;
  readonly trace: Trace;
  /** A random stream of the seed, by its number. */
  readonly randomOf: (share: number) => Random;
}

export class Peers {
  readonly #people: People;
  readonly #faults: LineFaults;
  readonly #judges: PeerJudges;

  constructor({ world, clusters, wires, trace, randomOf }: PeersOptions) {
    const note = (sentence: string) => trace.tell(sentence);
    const places = clusters.map(({ name, network, judges }) => {
      const unexpected = (sentence: string) => judges.report(guarantees.answers, sentence);
      return { name, client: new Client({ world, network, unexpected }) };
    });
    this.#people = new People({ places, random: randomOf(1), note });
    this.#faults = new LineFaults({
      world,
      wires,
      note,
      random: randomOf(2),
      clusters: clusters.map(({ name }) => name),
    });
    this.#judges = new PeerJudges(clusters);
    wires.onSent = (sent) => this.#judges.sent(sent);
  }

  get struck(): ReadonlyMap<string, number> {
    return this.#faults.struck;
  }

  start(): void {
    this.#people.start();
    this.#faults.start();
  }

  endFaults(): void {
    this.#faults.end();
    this.#people.end();
  }

  repair(): Promise<void> {
    return this.#people.repair();
  }

  rested(): void {
    this.#judges.rested(this.#people.peered, this.#people.parted);
  }
}
