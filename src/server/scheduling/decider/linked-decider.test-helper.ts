/** Deciders in the thread of a test or of the simulator, whose messages take their time as between two threads. */
import type { World } from '../../../base/ports.ts';
import type { DeciderPort, FromDecider, StartDecider, ToDecider } from './decider.ts';
import { FollowingDecider } from './following.ts';

export interface LinkedDeciders {
  readonly start: StartDecider;
  /** The deciders that have not ended, the oldest first. */
  readonly running: ReadonlySet<LinkedDecider>;
}

export interface LinkedDecider {
  /** Messages wait as long as it is held. */
  hold(): void;
  release(): void;
  /** Ends it, as a thread ends that is killed. */
  kill(): void;
  /** From now on nobody can end it from outside, as a thread in a call of the system that does not return. */
  cling(): void;
}

/** @param later calls a function once a message has arrived; the default: in the next turn */
export function linkedDeciders(
  world: DeciderWorld,
  later: (arrive: () => void) => void = (arrive) => world.timers.soon(arrive),
): LinkedDeciders {
  const running = new Set<LinkedDecider>();
  const start: StartDecider = (listen) => {
    const port = new Linked({ world, later, listen, gone: () => running.delete(port) });
    running.add(port);
    return port;
  };
  return { start, running };
}

type DeciderWorld = Pick<World, 'clock' | 'timers' | 'ids'>;

interface LinkedOptions {
  readonly world: DeciderWorld;
  readonly later: (arrive: () => void) => void;
  readonly listen: (message: FromDecider) => void;
  readonly gone: () => void;
}

class Linked implements DeciderPort, LinkedDecider {
  readonly ended: Promise<Error | undefined>;
  readonly #options: LinkedOptions;
  readonly #inside: FollowingDecider;
  #tellEnd: (error: Error | undefined) => void = () => {};
  #taken = 0;
  #isHeld = false;
  #clings = false;
  #hasEnded = false;
  #waiting: ToDecider[] = [];
  readonly #answers: FromDecider[] = [];

  constructor(options: LinkedOptions) {
    const { world, later, listen } = options;
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#tellEnd = resolve;
    });
    this.#inside = new FollowingDecider({
      world,
      tell: (message) => {
        this.#answers.push(structuredClone(message));
        later(() => {
          if (!this.#hasEnded) listen(this.#answers.shift()!);
        });
      },
      note: (bytes) => {
        this.#taken += bytes;
      },
      fail: (error) => this.#end(error as Error),
    });
  }

  send(message: ToDecider): void {
    this.#waiting.push(structuredClone(message));
    this.#options.later(() => this.#arrive());
  }

  taken(): number {
    return this.#taken;
  }

  end(): void {
    if (!this.#clings) this.#end(undefined);
  }

  cling(): void {
    this.#clings = true;
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#arrive();
  }

  kill(): void {
    this.#end(undefined);
  }

  #arrive(): void {
    while (!this.#isHeld && !this.#hasEnded && this.#waiting.length > 0) {
      this.#inside.take(this.#waiting.shift()!);
    }
  }

  #end(error: Error | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.gone();
    void this.#inside.close();
    this.#tellEnd(error);
  }
}
