/** A log in memory whose answers and batches may come late or not at all. */
import type { Random, World } from '../../src/base/ports.ts';
import { SharedLog, SharedMemoryEngine } from '../../src/state/engine/shared-memory.ts';
import { openState } from '../../src/state/state.ts';
import { allTables } from '../../src/state/tables.ts';
import type { State } from '../../src/state/types.ts';
import { stateLimits } from '../disk.ts';
import type { Fault } from '../faults.ts';
import type { Storage } from '../server.ts';
import type { GroupLog, GroupLogOptions } from './group-log.ts';

const leaseMs = 10_000;
const beatMs = 2000;
/** Delay until a server receives a batch, without faults. */
const usualDeliveryMs = 2;

export class MemoryLog implements GroupLog {
  readonly #log: SharedLog;
  readonly #random: Random;
  readonly #storages: MemoryLogStorage[] = [];

  constructor({ world, random, appended }: GroupLogOptions) {
    this.#random = random;
    this.#log = new SharedLog({
      clock: world.clock,
      leaseMs,
      appended: (batch) => appended(batch),
    });
  }

  get epoch(): number {
    return this.#log.epoch;
  }

  addServer(): Storage {
    const storage = new MemoryLogStorage(this.#log, this.#random);
    this.#storages.push(storage);
    return storage;
  }

  depose(): void {
    this.#log.depose();
  }

  faultsOfOperators(): readonly Fault[] {
    return [];
  }

  faultsOfSleep(): readonly Fault[] {
    return [];
  }

  faults(random: Random): readonly Fault[] {
    const { faults } = this.#log;
    const clear = (name: keyof typeof faults) => () => {
      faults[name] = undefined;
    };
    return [
      {
        name: 'the log is slow',
        weight: 2,
        lastsMaxMs: 60_000,
        begin: () => {
          faults.appendDelayMs = 5 + random.below(800);
          return clear('appendDelayMs');
        },
      },
      {
        name: 'the log fails',
        weight: 1,
        lastsMaxMs: 5000,
        begin: () => {
          faults.failAppend = () => new Error('input/output error');
          return clear('failAppend');
        },
      },
      {
        name: 'the answers of the log are lost',
        weight: 1,
        lastsMaxMs: 5000,
        begin: () => {
          faults.loseAnswer = () => true;
          return clear('loseAnswer');
        },
      },
      {
        name: 'a server receives batches late',
        weight: 3,
        lastsMaxMs: 120_000,
        begin: () => {
          const storage = this.#storages[random.below(this.#storages.length)]!;
          storage.setDeliveryDelay(random.below(8000));
          return () => storage.setDeliveryDelay(usualDeliveryMs);
        },
      },
    ];
  }
}

class MemoryLogStorage implements Storage {
  readonly #log: SharedLog;
  readonly #random: Random;
  #engine: SharedMemoryEngine | undefined;
  #deliveryDelayMs = usualDeliveryMs;

  constructor(log: SharedLog, random: Random) {
    this.#log = log;
    this.#random = random;
  }

  open({ clock, timers }: World, report: (error: unknown) => void): Promise<State> {
    const engine = new SharedMemoryEngine({ log: this.#log, timers, random: this.#random, beatMs });
    this.#engine = engine;
    this.setDeliveryDelay(this.#deliveryDelayMs);
    return openState({ tables: allTables, engine, timers, clock, limits: stateLimits, report });
  }

  crash(): void {
    this.#engine?.crash();
    this.#engine = undefined;
  }

  /** Sets the delay until the server receives a batch. */
  setDeliveryDelay(delayMs: number): void {
    this.#deliveryDelayMs = delayMs;
    if (this.#engine !== undefined) this.#engine.deliveryDelayMs = delayMs;
  }
}
