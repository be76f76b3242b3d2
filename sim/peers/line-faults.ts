/** Strikes the lines between clusters with random faults until `end`. Each fault ends by itself. */
import type { Random } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { Process } from '../process.ts';
import type { Wires } from './wires.ts';

const pauseMs = 60_000;
const lastsMaxMs = 300_000;

export interface LineFaultsOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  readonly wires: Wires;
  readonly clusters: readonly string[];
  readonly note: (sentence: string) => void;
}

const kinds = [
  'a line between clusters is cut',
  'messages between clusters are lost',
  'a handshake between clusters is replayed',
] as const;
type Kind = (typeof kinds)[number];

export class LineFaults {
  /** Number of faults of each kind that have begun. */
  readonly struck = new Map<Kind, number>(kinds.map((kind) => [kind, 0]));
  readonly #options: LineFaultsOptions;
  readonly #stranger: Process;
  readonly #open = new Set<() => void>();
  #isOver = false;

  constructor(options: LineFaultsOptions) {
    this.#options = options;
    this.#stranger = new Process(options.world);
  }

  start(): void {
    const { world, random } = this.#options;
    const later = () => world.timers.after(random.below(2 * pauseMs), next);
    const next = () => {
      if (this.#isOver) return;
      this.#strikeLine();
      later();
    };
    later();
  }

  end(): void {
    this.#isOver = true;
    for (const undo of [...this.#open]) undo();
  }

  #strikeLine(): void {
    const { random, wires, clusters, note } = this.#options;
    const dice = random.below(6);
    const kind = kinds[dice < 3 ? 0 : dice < 5 ? 1 : 2];
    this.struck.set(kind, this.struck.get(kind)! + 1);
    if (dice < 3) {
      const one = random.below(clusters.length);
      const other = (one + 1 + random.below(clusters.length - 1)) % clusters.length;
      const names = [clusters[one]!, clusters[other]!] as const;
      this.#endLater(`the line of ${names.join(' and ')} is cut`, wires.cut(...names));
    } else if (dice < 5) {
      wires.lossShare = random.fraction() * 0.6;
      this.#endLater(kind, () => {
        wires.lossShare = 0;
      });
    } else {
      note(kind);
      void wires.replay(this.#stranger);
    }
  }

  #endLater(fault: string, undo: () => void): void {
    const { world, random, note } = this.#options;
    const lastsMs = random.below(lastsMaxMs);
    note(`${fault} for ${(lastsMs / 1000).toFixed(1)} s`);
    const end = () => {
      if (!this.#open.delete(end)) return;
      note(`end of: ${fault}`);
      undo();
    };
    this.#open.add(end);
    world.timers.after(lastsMs, end);
  }
}
