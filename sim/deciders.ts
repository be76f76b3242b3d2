/** The deciders of a simulated server. */
import type { Random } from '../src/base/ports.ts';
import type { StartDecider } from '../src/server/scheduling/decider/decider.ts';
import {
  type LinkedDeciders,
  linkedDeciders,
} from '../src/server/scheduling/decider/linked-decider.test-helper.ts';
import type { Fault } from './faults.ts';
import type { Process } from './process.ts';

/** Messages between two threads, and decisions, take up to this time. */
const latencyMaxMs = 50;
/** Longer than the product waits for an answer. */
const heldMaxMs = 90_000;

export class SimulatedDeciders {
  readonly #random: Random;
  #linked: LinkedDeciders | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The deciders of a program of the server. They end with it. */
  of({ world }: Process): StartDecider {
    const { timers } = world;
    const later = (arrive: () => void) =>
      timers.after(this.#random.fraction() * latencyMaxMs, arrive);
    this.#linked = linkedDeciders(world, later);
    return this.#linked.start;
  }

  faults(): readonly Fault[] {
    const newest = () => [...(this.#linked?.running ?? [])].at(-1);
    return [
      {
        name: 'a decider dies',
        weight: 2,
        begin: () => {
          const decider = newest();
          decider?.kill();
          return decider && 'over at once';
        },
      },
      {
        name: 'a decider hangs',
        weight: 2,
        lastsMaxMs: heldMaxMs,
        begin: () => {
          const decider = newest();
          decider?.hold();
          return decider && (() => decider.release());
        },
      },
    ];
  }
}
