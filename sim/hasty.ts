/**
 * Users in a hurry: they set priorities, change a job again before the last change was evaluated, purge it
 * and create it anew at once, all without waiting for answers.
 */
import type { Random } from '../src/base/ports.ts';
import type { Client } from './client.ts';
import { bodyOf, kinds, newShape, type Shape, usual } from './jobs.ts';

const people = 2;
const pauseMaxMs = 120_000;
const jobsMax = 8;
/** Pauses between two requests of a user, too short for the server to finish the first one. */
const hasteMs = [0, 1, 5, 20, 100, 600] as const;

export class Hasty {
  readonly #random: Random;
  readonly #client: Client;
  /** The newest submission of each job. None of these jobs fails by itself. */
  readonly #jobs = new Map<string, Shape>();
  #number = 0;
  #isOver = false;

  constructor(random: Random, client: Client) {
    this.#random = random;
    this.#client = client;
  }

  start(): void {
    for (let person = 0; person < people; person++) {
      const again = () => {
        if (this.#isOver) return;
        const pause = () => this.#client.after(this.#random.below(pauseMaxMs), again);
        this.#hurryJob().then(pause, pause);
      };
      this.#client.after(this.#random.below(pauseMaxMs), again);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  /** Submits jobs anew whose newest deployment failed. */
  async repair(givenUp: ReadonlySet<string>): Promise<void> {
    for (const [name, shape] of this.#jobs) {
      const { status, json: job } = await this.#client.surely('GET', `/v1/job/${name}`);
      if (status !== 200 || job.Stop || !givenUp.has(`${name} ${job.Version}`)) continue;
      const next = { ...shape, edition: shape.edition + 1 };
      this.#jobs.set(name, next);
      await this.#client.surely('PUT', '/v1/jobs', { Job: bodyOf(next) });
    }
  }

  /** Changes a job a few times, then perhaps stops or purges it, and perhaps creates it anew. */
  async #hurryJob(): Promise<void> {
    const random = this.#random;
    const known = [...this.#jobs.values()];
    const isNew = known.length === 0 || (known.length < jobsMax && random.below(3) === 0);
    let shape = isNew ? this.#newShape() : known[random.below(known.length)]!;
    const asked: Promise<unknown>[] = [];
    const ask = async (request: Promise<unknown>): Promise<void> => {
      asked.push(request.catch(() => {}));
      const pauseMs = hasteMs[random.below(hasteMs.length)]!;
      await new Promise<void>((go) => this.#client.after(pauseMs, go));
    };
    for (let change = 0; change <= random.below(6); change++) {
      shape = this.#changed(shape);
      await ask(this.#submitJob(shape));
    }
    const dice = random.below(10);
    if (dice < 2) await ask(this.#stopJob(shape.name, false));
    if (dice >= 4) await ask(this.#stopJob(shape.name, true));
    if (dice >= 6) await ask(this.#submitJob(this.#changed(shape)));
    await Promise.all(asked);
  }

  #newShape(): Shape {
    const random = this.#random;
    const kind = kinds[random.below(3)]!;
    return newShape(`hasty-${kind}-${++this.#number}`, kind, random);
  }

  #changed(shape: Shape): Shape {
    const random = this.#random;
    const dice = random.below(4);
    return {
      ...shape,
      priority: random.below(2) === 0 ? 10 + 10 * random.below(9) : shape.priority,
      edition: dice === 0 ? shape.edition + 1 : shape.edition,
      note: dice > 1 ? shape.note + 1 : shape.note,
      behaviour: usual(shape.kind),
    };
  }

  #submitJob(shape: Shape): Promise<unknown> {
    this.#jobs.set(shape.name, shape);
    const EvalPriority = this.#priority();
    return this.#client.must('PUT', '/v1/jobs', {
      Job: bodyOf(shape),
      ...(EvalPriority !== undefined && { EvalPriority }),
    });
  }

  #stopJob(name: string, purge: boolean): Promise<unknown> {
    if (purge) this.#jobs.delete(name);
    const priority = this.#priority();
    const wishes = [
      ...(purge ? ['purge=true'] : []),
      ...(priority === undefined ? [] : [`eval_priority=${priority}`]),
    ];
    return this.#client.call('DELETE', `/v1/job/${name}?${wishes.join('&')}`);
  }

  /** Priority of an evaluation; `undefined` leaves it to the job. */
  #priority(): number | undefined {
    return this.#random.below(3) === 0 ? 1 + this.#random.below(100) : undefined;
  }
}
