/** What goes wrong, at random from the seed, until `end`. Each fault ends by itself. */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Machine } from './machine.ts';
import type { Network } from './network.ts';
import type { SimulatedServer } from './server.ts';

const pauseMaxMs = 90_000;
const restartMaxMs = 5000;

export interface FaultsOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  readonly network: Network;
  readonly server: SimulatedServer;
  readonly machines: readonly Machine[];
  /** What happened, for the trace. */
  readonly note: (sentence: string) => void;
}

interface Fault {
  readonly name: string;
  /** Begins; returns what ends it. */
  readonly begin: () => () => void;
  readonly lastsMaxMs: number;
}

export class Faults {
  readonly #options: FaultsOptions;
  readonly #kinds: readonly Fault[];
  /** What has begun and not ended, by what ends it. */
  readonly #open = new Set<() => void>();
  readonly #busy = new Set<Machine>();
  #isOver = false;

  constructor(options: FaultsOptions) {
    this.#options = options;
    const { network, random, server, world } = options;
    const disk = server.disk.faults;
    this.#kinds = [
      { name: 'a machine loses power', lastsMaxMs: 600_000, begin: () => this.#powerCut() },
      { name: 'an agent freezes', lastsMaxMs: 120_000, begin: () => this.#freeze() },
      { name: 'an agent dies', lastsMaxMs: 60_000, begin: () => this.#agentDies() },
      { name: 'machines are cut off', lastsMaxMs: 300_000, begin: () => this.#partition() },
      {
        name: 'messages are lost',
        lastsMaxMs: 120_000,
        begin: () => {
          network.lossShare = random.fraction() * 0.3;
          return () => {
            network.lossShare = 0;
          };
        },
      },
      {
        name: 'messages are repeated',
        lastsMaxMs: 120_000,
        begin: () => {
          network.duplicateShare = random.fraction() * 0.3;
          return () => {
            network.duplicateShare = 0;
          };
        },
      },
      {
        name: 'messages are slow',
        lastsMaxMs: 120_000,
        begin: () => {
          network.latencyMaxMs = 50 + random.below(3000);
          return () => {
            network.latencyMaxMs = 3;
          };
        },
      },
      {
        name: 'the disk is slow',
        lastsMaxMs: 60_000,
        begin: () => {
          disk.appendDelayMs = 5 + random.below(800);
          return () => {
            disk.appendDelayMs = undefined;
          };
        },
      },
      {
        name: 'the disk fails',
        lastsMaxMs: 1000,
        begin: () => {
          disk.failAppend = () => new Error('input/output error');
          return () => {
            disk.failAppend = undefined;
            this.#restartServer('lost');
          };
        },
      },
      { name: 'the server crashes', lastsMaxMs: 0, begin: () => this.#crash() },
      {
        name: 'the clock jumps',
        lastsMaxMs: 0,
        begin: () => {
          world.jumpWallClock(random.below(240_000) - 120_000);
          return () => {};
        },
      },
    ];
  }

  start(): void {
    const { world, random } = this.#options;
    const next = () => {
      if (this.#isOver) return;
      this.#strike(this.#kinds[random.below(this.#kinds.length)]!);
      world.timers.after(random.below(pauseMaxMs), next);
    };
    world.timers.after(random.below(pauseMaxMs), next);
  }

  /** Ends all that is under way, and lets nothing begin any more. */
  end(): void {
    this.#isOver = true;
    for (const end of [...this.#open]) end();
  }

  #strike({ name, begin, lastsMaxMs }: Fault): void {
    const { world, random, note } = this.#options;
    note(name);
    const undo = begin();
    const end = () => {
      if (!this.#open.delete(end)) return;
      undo();
    };
    this.#open.add(end);
    world.timers.after(random.below(lastsMaxMs + 1), end);
  }

  /** A machine that nothing else is wrong with. */
  #victim(): Machine | undefined {
    const { machines, random } = this.#options;
    const well = machines.filter((machine) => !this.#busy.has(machine));
    // Most of the fleet stays; what has to be shown is that the rest takes over.
    if (this.#busy.size > machines.length / 3) return undefined;
    return well[random.below(Math.max(well.length, 1))];
  }

  #onVictim(begin: (machine: Machine) => void, end: (machine: Machine) => void): () => void {
    const machine = this.#victim();
    if (machine === undefined) return () => {};
    this.#busy.add(machine);
    begin(machine);
    return () => {
      this.#busy.delete(machine);
      end(machine);
    };
  }

  #powerCut(): () => void {
    return this.#onVictim(
      (machine) => machine.powerOff(),
      (machine) => machine.powerOn(),
    );
  }

  #agentDies(): () => void {
    return this.#onVictim(
      (machine) => machine.killAgent(),
      (machine) => machine.startAgent(),
    );
  }

  #freeze(): () => void {
    return this.#onVictim(
      (machine) => machine.agent?.freeze(),
      (machine) => machine.agent?.thaw(),
    );
  }

  #partition(): () => void {
    const { network, random } = this.#options;
    const ends = Array.from({ length: 1 + random.below(3) }, () =>
      this.#onVictim(
        ({ hardware }) => network.cutOff.add(hardware.name),
        ({ hardware }) => network.cutOff.delete(hardware.name),
      ),
    );
    return () => {
      for (const end of ends) end();
    };
  }

  /** In the midst of a write, before or after it is durable, or with half of it on the disk. */
  #crash(): () => void {
    const { random } = this.#options;
    this.#restartServer((['lost', 'kept', 'torn'] as const)[random.below(3)]!);
    return () => {};
  }

  #restartServer(fate: 'lost' | 'kept' | 'torn'): void {
    const { server, world, random } = this.#options;
    server.crash(fate);
    world.timers.after(random.below(restartMaxMs), () => {
      if (!server.isUp) void server.start();
    });
  }
}
