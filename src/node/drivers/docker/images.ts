import type Dockerode from 'dockerode';
import { type Clock, delay, type Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import { DriverFailure } from '../driver.ts';
import { PullProgress, pullFault } from './pull-progress.ts';
import { type Runtime, RuntimeUnreachable, reasonOf, statusOf } from './runtime.ts';

export interface ImageWish {
  readonly image: string;
  /** Download even if the image is here already. */
  readonly isForced: boolean;
  readonly auth: Dockerode.AuthConfig | undefined;
  readonly timeoutMs: number;
  /** Reports a message for the task's user. */
  readonly tell: (sentence: string) => void;
}

/**
 * The images of the runtime.
 *
 * Invariants
 *  P1. Tasks that need the same image at the same time, with the same credentials, share one
 *      download.
 *  P2. Only images that this agent pulled are removed, and only when none of its tasks has used
 *      them for the configured time.
 */
export class Images {
  readonly #runtime: Runtime;
  readonly #ports: { readonly clock: Clock; readonly timers: Timers };
  readonly #delayMs: number | undefined;
  readonly #pulls = new Map<string, Pull>();
  readonly #pulled = new Set<string>();
  /** The number of runs that use an image. */
  readonly #uses = new Map<string, number>();

  constructor(
    runtime: Runtime,
    ports: { readonly clock: Clock; readonly timers: Timers },
    delayMs: number | undefined,
  ) {
    this.#runtime = runtime;
    this.#ports = ports;
    this.#delayMs = delayMs;
  }

  /** Resolves when the image is present. Rejects with {@link DriverFailure}. */
  async ensure(wish: ImageWish): Promise<void> {
    const isHere = await this.#isHere(wish.image);
    const isNewest = isNewestTag(wish.image);
    if (isHere && !wish.isForced && !isNewest) return;
    try {
      await this.#pull(wish);
    } catch (error) {
      if (!isHere || wish.isForced || !(error instanceof DriverFailure)) throw error;
      wish.tell(`${error.message}; the one that is here is used`);
    }
  }

  use(image: string): void {
    this.#uses.set(image, (this.#uses.get(image) ?? 0) + 1);
  }

  /** To be called when a run is over and its container removed. */
  release(image: string): void {
    const left = (this.#uses.get(image) ?? 1) - 1;
    this.#uses.set(image, left);
    if (left > 0 || this.#delayMs === undefined || !this.#pulled.has(image)) return;
    this.#ports.timers.after(this.#delayMs, () => {
      if ((this.#uses.get(image) ?? 0) === 0 && !this.#runtime.closed.aborted)
        void this.#removeImage(image);
    });
  }

  async #removeImage(image: string): Promise<void> {
    // The runtime refuses while any container needs the image.
    await this.#runtime
      .call((client) => client.getImage(image).remove())
      .then(
        () => this.#pulled.delete(image),
        () => {},
      );
  }

  async #isHere(image: string): Promise<boolean> {
    try {
      await this.#runtime.call((client) => client.getImage(image).inspect());
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw asFailure(error, image);
    }
  }

  async #pull(wish: ImageWish): Promise<void> {
    const { image, auth, tell } = wish;
    const key = JSON.stringify([image, auth ?? null]);
    const running = this.#pulls.get(key);
    const pull = running ?? new Pull(this.#runtime, this.#ports, wish);
    if (running === undefined) {
      this.#pulls.set(key, pull);
      void pull.done.catch(() => {}).then(() => this.#pulls.delete(key));
    }
    tell(`Downloading image ${image}`);
    pull.listen(tell);
    await pull.done;
    this.#pulled.add(image);
  }
}

class Pull {
  readonly done: Promise<void>;
  readonly #listeners = new Set<(sentence: string) => void>();
  readonly #ports: { readonly clock: Clock; readonly timers: Timers };

  constructor(
    runtime: Runtime,
    ports: { readonly clock: Clock; readonly timers: Timers },
    { image, auth, timeoutMs }: ImageWish,
  ) {
    this.#ports = ports;
    this.done = this.#run(runtime, image, auth, timeoutMs);
  }

  listen(tell: (sentence: string) => void): void {
    this.#listeners.add(tell);
  }

  async #run(
    runtime: Runtime,
    image: string,
    auth: Dockerode.AuthConfig | undefined,
    timeoutMs: number,
  ): Promise<void> {
    const over = new AbortController();
    const tooLate = delay(this.#ports.timers, timeoutMs, over.signal).then(() => {
      if (over.signal.aborted) return;
      throw new DriverFailure(`the image ${image} was not downloaded within ${timeoutMs} ms`, true);
    });
    const abortSignal = AbortSignal.any([over.signal, runtime.closed]);
    try {
      await Promise.race([
        runtime.call((client) => this.#download(client, image, auth, abortSignal)),
        tooLate,
      ]);
    } catch (error) {
      throw asFailure(error, image);
    } finally {
      over.abort();
    }
  }

  async #download(
    client: Dockerode,
    image: string,
    auth: Dockerode.AuthConfig | undefined,
    abortSignal: AbortSignal,
  ): Promise<void> {
    const hasTag = /(:[^/]+|@sha256:.*)$/.test(image);
    const stream = await client.pull(hasTag ? image : `${image}:latest`, {
      abortSignal,
      ...(auth !== undefined && { authconfig: auth }),
    });
    const progress = new PullProgress();
    let toldMs = this.#ports.clock.monotonicMs();
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      progress.take(chunk);
      const nowMs = this.#ports.clock.monotonicMs();
      if (nowMs - toldMs < limits.docker.pullProgressIntervalMs) continue;
      toldMs = nowMs;
      for (const tell of this.#listeners) tell(`Downloading image ${image}: ${progress.sentence}`);
    }
    progress.end();
    if (progress.fault !== undefined) throw new Error(progress.fault);
  }
}

/** Whether its tag is `latest`, named or not. */
const isNewestTag = (image: string): boolean =>
  !image.includes('@') && (/:latest$/.test(image) || !/:[^/]+$/.test(image));

function asFailure(error: unknown, image: string): DriverFailure {
  if (error instanceof DriverFailure) return error;
  if (error instanceof RuntimeUnreachable) return error;
  const reason = reasonOf(error);
  const { isRecoverable } = pullFault(reason, statusOf(error));
  return new DriverFailure(`the image ${image} could not be downloaded: ${reason}`, isRecoverable);
}
