import { SimulatedWorld } from '../../base/ports-simulated.ts';
import {
  type Bench,
  type BenchEngine,
  simulatedDuring,
  simulatedUntil,
} from './shared-engine.test-helper.ts';
import { SharedLog, SharedMemoryEngine } from './shared-memory.ts';

const beatMs = 10;
const leaseMs = 40;

/** The in-memory log as the tests of all shared logs use it. */
export class SharedMemoryBench implements Bench {
  readonly settleMs = 500;
  readonly keepsLog = true;
  readonly world = new SimulatedWorld(1);
  readonly log: SharedLog;
  readonly appended: { first: number; last: number; epoch: number }[] = [];
  readonly #engines = new Set<SharedMemoryEngine>();

  constructor() {
    this.log = new SharedLog({
      clock: this.world.clock,
      leaseMs,
      appended: ({ firstIndex: first, lastIndex: last }, epoch) =>
        this.appended.push({ first, last, epoch }),
    });
  }

  open(): BenchEngine {
    const { timers, random } = this.world;
    const engine = new SharedMemoryEngine({ log: this.log, timers, random, beatMs });
    this.#engines.add(engine);
    return {
      engine,
      timers,
      crash: () => engine.crash(),
      hearAfter: (delayMs) => {
        engine.deliveryDelayMs = delayMs;
      },
    };
  }

  advance = (durationMs: number): Promise<void> => this.world.advance(durationMs);

  until(condition: () => boolean): Promise<void> {
    return simulatedUntil(this, condition);
  }

  during<T>(promise: Promise<T>): Promise<T> {
    return simulatedDuring(this, promise);
  }

  depose(): void {
    this.log.depose();
  }

  usurp(): void {
    this.log.depose();
    const ghost = new SharedMemoryEngine({ log: this.log, ...this.world, beatMs });
    this.log.campaign(ghost, this.log.index);
  }

  slow(delayMs: number): void {
    this.log.faults.appendDelayMs = delayMs === 0 ? undefined : delayMs;
  }

  answers(how: 'works' | 'fails' | 'no answer'): void {
    const { faults } = this.log;
    faults.failAppend = how === 'fails' ? () => new Error('the log is away') : undefined;
    faults.loseAnswer = how === 'no answer' ? () => true : undefined;
  }
}
