/** Leaders that fall asleep just before a change of etcd, and make it two terms later. */
import type { Random, Timer } from '../../src/base/ports.ts';
import type { Leaving } from '../../src/state/engine/etcd/model.ts';
import { type Fault, secondsOf } from '../faults.ts';
import type { Process } from '../process.ts';
import { type KindOfChange, kindsOfChange } from './etcd-changes.ts';
import type { EtcdLog } from './etcd-log.ts';

/** A leader that was told to sleep does so, and wakes, within this time. */
const lastsMs = 240_000;
/** The longest life of the terms that the leader misses. */
const termMaxMs = 20_000;
/** The longest time from the beginning of the second term to the awakening. */
const wakeMaxMs = 60_000;
const termsMissed = 2;

export const sleepsOfLeaders = (log: EtcdLog, random: Random): readonly Fault[] =>
  kindsOfChange(log.keys).map((kind) => {
    const name = `a leader sleeps through two terms before ${kind.name}`;
    return {
      name,
      weight: 1,
      lastsMinMs: lastsMs,
      lastsMaxMs: lastsMs,
      waits: true,
      begin: (struck) => {
        const sleep = new Sleep(log, random, kind, (forMs) =>
          struck(`${name}, for ${secondsOf(forMs)}`),
        );
        log.sleeps.add(sleep);
        return () => sleep.end();
      },
    };
  });

/**
 * The sleep of a single leader.
 *
 * 1. It begins when the leader is about to make the change. The request leaves when the leader is awake again.
 * 2. The leader is woken when two later terms have begun. A leader that wakes or dies before does not count.
 */
export class Sleep {
  readonly #log: EtcdLog;
  readonly #random: Random;
  readonly #isMoment: (request: Leaving) => boolean;
  /** Takes how long the leader slept through its two terms. */
  readonly #slept: (forMs: number) => void;
  #process: Process | undefined;
  #fellMs = 0;
  #terms = 0;
  #next: Timer | undefined;

  constructor(
    log: EtcdLog,
    random: Random,
    { moments }: KindOfChange,
    slept: (forMs: number) => void,
  ) {
    this.#log = log;
    this.#random = random;
    this.#isMoment = moments[random.below(moments.length)]!;
    this.#slept = slept;
  }

  get isAsleep(): boolean {
    return this.#process?.isAlive === true && this.#process.isFrozen;
  }

  /** The leader falls asleep, if this is the moment, and its request waits until it is awake. */
  hold(request: Leaving, program: Process): Promise<void> | undefined {
    if (this.#process !== undefined || program.isFrozen || !this.#isMoment(request))
      return undefined;
    this.#process = program;
    this.#fellMs = this.#log.nowMs;
    program.freeze();
    this.#setTimer(termMaxMs, () => this.#log.depose());
    return new Promise((send) => program.post(send));
  }

  termBegan(): void {
    if (this.#process === undefined) return;
    this.#terms++;
    if (this.#terms < termsMissed) this.#setTimer(termMaxMs, () => this.#log.depose());
    if (this.#terms === termsMissed) this.#setTimer(wakeMaxMs, () => this.#wake());
  }

  /** Wakes the leader, whether or not terms have passed. */
  end(): void {
    this.#next?.clear();
    // After its end, another fault may have stopped the same program.
    if (this.#log.sleeps.delete(this)) this.#process?.thaw();
  }

  #wake(): void {
    if (this.isAsleep) this.#slept(this.#log.nowMs - this.#fellMs);
    this.end();
  }

  #setTimer(mostMs: number, run: () => void): void {
    this.#next?.clear();
    this.#next = this.#log.timers.after(this.#random.below(mostMs), run);
  }
}
