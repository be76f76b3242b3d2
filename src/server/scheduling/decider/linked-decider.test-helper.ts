/** Deciders in the thread of a test, whose messages take their time as between two threads. */
import type { World } from '../../../base/ports.ts';
import type { DeciderPort, FromDecider, StartDecider, ToDecider } from './decider.ts';
import { FollowingDecider } from './following.ts';

export interface LinkedDeciders {
  readonly start: StartDecider;
  /** Those that were started and have not ended. */
  readonly running: ReadonlySet<LinkedDecider>;
}

export interface LinkedDecider {
  /** Messages wait as long as it is held. */
  hold(): void;
  release(): void;
  /** Ends it as a fault would. */
  kill(): void;
}

export function linkedDeciders(world: Pick<World, 'clock' | 'timers' | 'ids'>): LinkedDeciders {
  const running = new Set<LinkedDecider>();
  const start: StartDecider = (listen) => {
    const port = new Linked(world, listen, () => running.delete(port));
    running.add(port);
    return port;
  };
  return { start, running };
}

class Linked implements DeciderPort, LinkedDecider {
  readonly ended: Promise<Error | undefined>;
  readonly #world: Pick<World, 'timers'>;
  readonly #inside: FollowingDecider;
  readonly #gone: () => void;
  #resolve: (error: Error | undefined) => void = () => {};
  #taken = 0;
  #isHeld = false;
  #hasEnded = false;
  #waiting: ToDecider[] = [];

  constructor(
    world: Pick<World, 'clock' | 'timers' | 'ids'>,
    listen: (message: FromDecider) => void,
    gone: () => void,
  ) {
    this.#world = world;
    this.#gone = gone;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#inside = new FollowingDecider({
      world,
      tell: (message) => {
        const sent = structuredClone(message);
        world.timers.soon(() => {
          if (!this.#hasEnded) listen(sent);
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
    this.#world.timers.soon(() => this.#arrive());
  }

  taken(): number {
    return this.#taken;
  }

  end(): void {
    this.#end(undefined);
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#arrive();
  }

  kill(): void {
    this.#end(new Error('killed by the test'));
  }

  #arrive(): void {
    while (!this.#isHeld && !this.#hasEnded && this.#waiting.length > 0) {
      this.#inside.take(this.#waiting.shift()!);
    }
  }

  #end(error: Error | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#gone();
    void this.#inside.close();
    this.#resolve(error);
  }
}
