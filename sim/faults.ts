/** Strikes machines, links and servers with random faults until `end`. Each fault ends by itself. */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Machine } from './machine.ts';
import { type Direction, fairWeather, type Network, type Weather } from './network.ts';

/** Average pause between two faults of a fleet of `nodesOfPause` machines. A larger fleet has more faults. */
const fleetPauseMs = 60_000;
const nodesOfPause = 20;
/** One machine in this number is lost for good when the faults end. */
const lostOneIn = 8;
/** Average pause between two faults of the servers. */
const serverPauseMs = 120_000;

export interface FaultsOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  readonly network: Network;
  /** Faults of the servers and of their storage. */
  readonly ofServers: readonly Fault[];
  /** Lists of faults that strike beside the faults of the servers. */
  readonly beside: readonly (readonly Fault[])[];
  readonly machines: readonly Machine[];
  /** Takes a line of the trace. */
  readonly note: (sentence: string) => void;
}

type Undo = () => unknown;

interface FaultKind {
  readonly name: string;
  readonly weight: number;
  /** The default is 0. */
  readonly lastsMinMs?: number;
  readonly lastsMaxMs?: number;
}

export interface Fault extends FaultKind {
  /**
   * Begins the fault and returns how to end it; `undefined` if there is no victim.
   *
   * @param struck is called by a fault that waits for its moment, when it has struck
   */
  readonly begin: (struck: (sentence: string) => void) => Undo | 'over at once' | undefined;
  /** Whether the fault waits for its moment, and is counted only when it has struck. */
  readonly waits?: boolean;
}

export class Faults {
  /** Number of faults of each kind that have begun. */
  readonly struck = new Map<string, number>();
  readonly #options: FaultsOptions;
  /** The ends of all faults under way. */
  readonly #open = new Set<Undo>();
  readonly #busy = new Set<Machine>();
  #isOver = false;

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  start(): void {
    const more = Math.max(1, Math.sqrt(this.#options.machines.length / nodesOfPause));
    this.#strikeOn([...this.#faultsOfMachines(), ...this.#faultsOfMessages()], fleetPauseMs / more);
    const { ofServers, beside } = this.#options;
    for (const kinds of [ofServers, ...beside]) this.#strikeOn(kinds, serverPauseMs);
  }

  #strikeOn(kinds: readonly Fault[], pauseMs: number): void {
    const { world, random } = this.#options;
    for (const { name } of kinds) this.struck.set(name, 0);
    const later = () => world.timers.after(random.below(2 * pauseMs), next);
    const next = () => {
      if (this.#isOver) return;
      this.#strikeWith(this.#chooseFault(kinds));
      later();
    };
    later();
  }

  /** Ends all faults. Some machines stay off for good, so their allocations have to move. */
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

  #chooseFault(kinds: readonly Fault[]): Fault {
    let dice = this.#options.random.below(kinds.reduce((sum, { weight }) => sum + weight, 0));
    for (const kind of kinds) {
      dice -= kind.weight;
      if (dice < 0) return kind;
    }
    return kinds[0]!;
  }

  #strikeWith({ name, begin, waits = false, lastsMinMs = 0, lastsMaxMs = 0 }: Fault): void {
    const { world, random, note } = this.#options;
    const lastsMs = lastsMinMs + random.below(lastsMaxMs - lastsMinMs + 1);
    const struck = (sentence: string) => {
      this.struck.set(name, this.struck.get(name)! + 1);
      note(sentence);
    };
    const undo = begin(struck);
    if (undo === undefined) return;
    if (!waits) struck(undo === 'over at once' ? name : `${name} for ${secondsOf(lastsMs)}`);
    if (undo === 'over at once') return;
    const end = () => {
      if (!this.#open.delete(end)) return;
      if (!waits) note(`end of: ${name}`);
      undo();
    };
    this.#open.add(end);
    world.timers.after(lastsMs, end);
  }

  #faultsOfMachines(): readonly Fault[] {
    const { network, random, machines } = this.#options;
    const losePower = (machine: Machine): Undo => {
      machine.powerOff();
      return () => machine.powerOn();
    };
    const freezeAgent = (machine: Machine): Undo => {
      machine.agent?.freeze();
      return () => machine.agent?.thaw();
    };
    const killAgent = (machine: Machine): Undo => {
      machine.killAgent();
      return () => machine.startAgent();
    };
    const cut =
      (...directions: readonly Direction[]) =>
      ({ hardware: { name } }: Machine) =>
        network.cut(name, ...directions);
    const spoilLink = ({ hardware: { name } }: Machine): Undo => {
      network.links.set(name, this.#badWeather());
      return () => network.links.delete(name);
    };
    const kind = (name: string, weight: number, lastsMaxMs: number): FaultKind => ({
      name,
      weight,
      lastsMaxMs,
    });
    return [
      this.#faultOfOne(kind('a machine loses power', 2, 600_000), losePower),
      this.#faultOfOne(kind('a machine reboots', 1, 8000), losePower),
      this.#faultOfOne(kind('an agent freezes', 2, 120_000), freezeAgent),
      this.#faultOfOne(kind('an agent dies', 2, 60_000), killAgent),
      {
        name: 'machines are cut off',
        weight: 3,
        lastsMaxMs: 500_000,
        begin: () => {
          const undos = Array.from({ length: 1 + random.below(3) }, () =>
            this.#onVictim(cut('from', 'to')),
          );
          return () => {
            for (const undo of undos) undo?.();
          };
        },
      },
      this.#faultOfOne(kind('a machine sends but receives nothing', 1, 200_000), cut('to')),
      this.#faultOfOne(kind('a machine receives but sends nothing', 1, 200_000), cut('from')),
      this.#faultOfOne(kind('a link is bad', 2, 300_000), spoilLink),
      {
        name: 'the clock of a machine jumps',
        weight: 1,
        begin: () => {
          machines[random.below(machines.length)]!.clock.jump(random.below(600_000) - 300_000);
          return 'over at once';
        },
      },
    ];
  }

  #faultsOfMessages(): readonly Fault[] {
    const { network, random } = this.#options;
    const storm = (name: string, change: () => Partial<Weather>): Fault => ({
      name,
      weight: 1,
      lastsMaxMs: 120_000,
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
        duplicateShare: random.fraction() * 0.3,
        duplicateMaxMs: random.below(10_000),
      })),
      storm('messages are slow', () => ({ latencyMaxMs: 50 + random.below(3000) })),
    ];
  }

  #badWeather(): Weather {
    const { random } = this.#options;
    return {
      lossShare: random.fraction() * 0.5,
      duplicateShare: random.fraction() * 0.2,
      duplicateMaxMs: random.below(5000),
      latencyMaxMs: 10 + random.below(4000),
    };
  }

  #faultOfOne(kind: FaultKind, begin: (machine: Machine) => Undo): Fault {
    return { ...kind, begin: () => this.#onVictim(begin) };
  }

  /** Strikes a machine without another fault. At least two thirds of the fleet stay well at any time. */
  #onVictim(begin: (machine: Machine) => Undo): Undo | undefined {
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

export const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
