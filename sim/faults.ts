/** What goes wrong, at random from the seed, until `end`. Each fault ends by itself. */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Machine } from './machine.ts';
import { fairWeather, type Network, type Weather } from './network.ts';

/** Between two faults of the fleet and its links, in the middle: a larger one has more of them. */
const fleetPauseMs = 60_000;
const nodesOfPause = 20;
/** Of so many machines one does not come back in the end. */
const lostOneIn = 8;
/** Between two faults of the server. */
const serverPauseMs = 120_000;

export interface FaultsOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  readonly network: Network;
  /** Faults of the servers and of their storage. */
  readonly ofServers: readonly Fault[];
  readonly machines: readonly Machine[];
  /** What happened, for the trace. */
  readonly note: (sentence: string) => void;
}

type Undo = () => void;

export interface Fault {
  readonly name: string;
  readonly weight: number;
  /** Begins; returns what ends it, or nothing when there is nobody whom it could strike. */
  readonly begin: () => Undo | 'over at once' | undefined;
  readonly lastsMaxMs?: number;
}

export class Faults {
  /** How many of each kind have begun. */
  readonly struck = new Map<string, number>();
  readonly #options: FaultsOptions;
  /** What has begun and not ended, by what ends it. */
  readonly #open = new Set<Undo>();
  readonly #busy = new Set<Machine>();
  #isOver = false;

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  start(): void {
    const more = Math.max(1, Math.sqrt(this.#options.machines.length / nodesOfPause));
    this.#strikeOn([...this.#ofMachines(), ...this.#ofMessages()], fleetPauseMs / more);
    this.#strikeOn(this.#options.ofServers, serverPauseMs);
  }

  #strikeOn(kinds: readonly Fault[], pauseMs: number): void {
    const { world, random } = this.#options;
    for (const { name } of kinds) this.struck.set(name, 0);
    const later = () => world.timers.after(random.below(2 * pauseMs), next);
    const next = () => {
      if (this.#isOver) return;
      this.#strike(this.#choose(kinds));
      later();
    };
    later();
  }

  /**
   * Ends all that is under way, and lets nothing begin any more. Some machines are gone for good:
   * what they ran has to run elsewhere.
   */
  end(): void {
    this.#isOver = true;
    for (const end of [...this.#open]) end();
    const { machines, random, note } = this.#options;
    for (const machine of machines) {
      if (random.below(lostOneIn) > 0) continue;
      note(`${machine.hardware.name} is gone for good`);
      machine.powerOff();
    }
  }

  #choose(kinds: readonly Fault[]): Fault {
    let dice = this.#options.random.below(kinds.reduce((sum, { weight }) => sum + weight, 0));
    for (const kind of kinds) {
      dice -= kind.weight;
      if (dice < 0) return kind;
    }
    return kinds[0]!;
  }

  #strike({ name, begin, lastsMaxMs = 0 }: Fault): void {
    const { world, random, note } = this.#options;
    const lastsMs = random.below(lastsMaxMs + 1);
    const undo = begin();
    if (undo === undefined) return;
    this.struck.set(name, this.struck.get(name)! + 1);
    note(undo === 'over at once' ? name : `${name} for ${(lastsMs / 1000).toFixed(1)} s`);
    if (undo === 'over at once') return;
    const end = () => {
      if (!this.#open.delete(end)) return;
      note(`it is over that ${name}`);
      undo();
    };
    this.#open.add(end);
    world.timers.after(lastsMs, end);
  }

  #ofMachines(): readonly Fault[] {
    const { network, random } = this.#options;
    return [
      {
        ...{ name: 'a machine loses power', weight: 2, lastsMaxMs: 600_000 },
        begin: () =>
          this.#onVictim((machine) => {
            machine.powerOff();
            return () => machine.powerOn();
          }),
      },
      {
        ...{ name: 'a machine reboots', weight: 1, lastsMaxMs: 8000 },
        begin: () =>
          this.#onVictim((machine) => {
            machine.powerOff();
            return () => machine.powerOn();
          }),
      },
      {
        ...{ name: 'an agent freezes', weight: 2, lastsMaxMs: 120_000 },
        begin: () =>
          this.#onVictim((machine) => {
            machine.agent?.freeze();
            return () => machine.agent?.thaw();
          }),
      },
      {
        ...{ name: 'an agent dies', weight: 2, lastsMaxMs: 60_000 },
        begin: () =>
          this.#onVictim((machine) => {
            machine.killAgent();
            return () => machine.startAgent();
          }),
      },
      {
        ...{ name: 'machines are cut off', weight: 3, lastsMaxMs: 500_000 },
        begin: () => {
          const undos = Array.from({ length: 1 + random.below(3) }, () =>
            this.#onVictim(({ hardware }) => network.cut(hardware.name, 'from', 'to')),
          );
          return () => {
            for (const undo of undos) undo?.();
          };
        },
      },
      {
        ...{ name: 'a machine is heard and hears nothing', weight: 1, lastsMaxMs: 200_000 },
        begin: () => this.#onVictim(({ hardware }) => network.cut(hardware.name, 'to')),
      },
      {
        ...{ name: 'a machine hears and is not heard', weight: 1, lastsMaxMs: 200_000 },
        begin: () => this.#onVictim(({ hardware }) => network.cut(hardware.name, 'from')),
      },
      {
        ...{ name: 'a link is bad', weight: 2, lastsMaxMs: 300_000 },
        begin: () =>
          this.#onVictim(({ hardware: { name } }) => {
            network.links.set(name, this.#badWeather());
            return () => network.links.delete(name);
          }),
      },
      {
        ...{ name: 'the clock of a machine jumps', weight: 1 },
        begin: () => {
          const { machines } = this.#options;
          machines[random.below(machines.length)]!.clock.jump(random.below(600_000) - 300_000);
          return 'over at once';
        },
      },
    ];
  }

  #ofMessages(): readonly Fault[] {
    const { network, random } = this.#options;
    const storm = (name: string, change: () => Partial<Weather>): Fault => ({
      ...{ name, weight: 1, lastsMaxMs: 120_000 },
      begin: () => {
        const changed = change();
        Object.assign(network.weather, changed);
        return () => {
          for (const part of Object.keys(changed) as (keyof Weather)[]) {
            network.weather[part] = fairWeather[part];
          }
        };
      },
    });
    return [
      storm('messages are lost', () => ({ lossShare: random.fraction() * 0.3 })),
      storm('messages are repeated', () => ({
        ...{ duplicateShare: random.fraction() * 0.3, duplicateMaxMs: random.below(10_000) },
      })),
      storm('messages are slow', () => ({ latencyMaxMs: 50 + random.below(3000) })),
    ];
  }

  #badWeather(): Weather {
    const { random } = this.#options;
    return {
      ...{ lossShare: random.fraction() * 0.5, duplicateShare: random.fraction() * 0.2 },
      ...{ duplicateMaxMs: random.below(5000), latencyMaxMs: 10 + random.below(4000) },
    };
  }

  /** A machine that nothing else is wrong with; most of the fleet stays well at any time. */
  #onVictim(begin: (machine: Machine) => () => unknown): Undo | undefined {
    const { machines, random } = this.#options;
    if (this.#busy.size > machines.length / 3) return undefined;
    const well = machines.filter((machine) => !this.#busy.has(machine));
    const machine = well[random.below(Math.max(well.length, 1))];
    if (machine === undefined) return undefined;
    this.#busy.add(machine);
    const undo = begin(machine);
    return () => {
      this.#busy.delete(machine);
      undo();
    };
  }
}
