/**
 * Users of patterns, which are the periodic and the parameterized jobs: they submit, change, stop and purge
 * patterns, force launches and dispatch children.
 */
import type { Random } from '../src/base/ports.ts';
import type { Client } from './client.ts';

const second = 1e9;
const patternsMax = 6;

/** Each schedule has a constant step, so that a checker can compute its slots without parsing it. */
const schedules = [
  { spec: '*/2 * * * *', stepSeconds: 120 },
  { spec: '*/5 * * * *', stepSeconds: 300 },
  { spec: '@every 90s', stepSeconds: 90 },
  { spec: '@every 7m', stepSeconds: 420 },
] as const;

/** The step of a simulated job's schedule. */
export const stepSecondsOf = (spec: string): number | undefined =>
  schedules.find((one) => one.spec === spec)?.stepSeconds;

interface Pattern {
  readonly name: string;
  readonly isPeriodic: boolean;
  readonly spec: string;
  readonly prohibitsOverlap: boolean;
  readonly runForSeconds: number;
  readonly note: number;
}

export class Launches {
  readonly #random: Random;
  readonly #client: Client;
  readonly #patterns = new Map<string, Pattern>();
  #number = 0;

  constructor(random: Random, client: Client) {
    this.#random = random;
    this.#client = client;
  }

  /** Performs a random action on a random pattern. */
  readonly act = async (): Promise<unknown> => {
    const dice = this.#random.below(20);
    const known = [...this.#patterns.values()];
    const one = known[this.#random.below(Math.max(known.length, 1))];
    if (one === undefined || (dice < 5 && known.length < patternsMax)) return this.#addPattern();
    if (dice < 8) return this.#submitPattern({ ...one, ...this.#randomSettings() });
    if (dice < 10) return this.#submitPattern({ ...one, note: one.note + 1 });
    if (dice === 10) return this.#client.call('DELETE', `/v1/job/${one.name}`);
    if (dice === 11) return this.#purge(one);
    return one.isPeriodic ? this.#force(one) : this.#dispatch(one);
  };

  #randomSettings() {
    return {
      spec: schedules[this.#random.below(schedules.length)]!.spec,
      prohibitsOverlap: this.#random.below(2) === 0,
      runForSeconds: 5 + this.#random.below(240),
    };
  }

  #addPattern(): Promise<unknown> {
    const isPeriodic = this.#random.below(3) > 0;
    const name = `${isPeriodic ? 'periodic' : 'pattern'}-${++this.#number}`;
    return this.#submitPattern({ ...this.#randomSettings(), name, isPeriodic, note: 1 });
  }

  #submitPattern(pattern: Pattern): Promise<unknown> {
    this.#patterns.set(pattern.name, pattern);
    return this.#client.must('PUT', '/v1/jobs', { Job: bodyOf(pattern) });
  }

  async #purge({ name }: Pattern): Promise<void> {
    const { status } = await this.#client.call('DELETE', `/v1/job/${name}?purge=true`);
    if (status === 200 || status === 404) this.#patterns.delete(name);
  }

  #force({ name }: Pattern): Promise<unknown> {
    return this.#client.call('PUT', `/v1/job/${name}/periodic/force`);
  }

  /** Dispatches a child, sometimes repeatedly with the same token, like a user without an answer. */
  async #dispatch({ name }: Pattern): Promise<void> {
    const token = `token-${this.#random.below(1000)}`;
    const path = `/v1/job/${name}/dispatch?IdempotencyToken=${token}`;
    const body = { Meta: { size: String(this.#random.below(9)) } };
    for (let time = 0; time <= this.#random.below(3); time++) {
      await this.#client.call('PUT', path, body).catch(() => {});
    }
  }
}

function bodyOf({ name, isPeriodic, spec, prohibitsOverlap, runForSeconds, note }: Pattern) {
  return {
    ID: name,
    Type: 'batch',
    Priority: 40,
    Meta: { note: String(note) },
    ...(isPeriodic
      ? { Periodic: { Specs: [spec], ProhibitOverlap: prohibitsOverlap } }
      : { ParameterizedJob: { MetaOptional: ['size'] } }),
    TaskGroups: [
      {
        Name: 'main',
        Count: 1,
        ReschedulePolicy: { Attempts: 0, Unlimited: true, Delay: 15 * second },
        Tasks: [
          {
            Name: 'task',
            Driver: 'mock',
            Config: { run_for: `${runForSeconds}s` },
            Resources: { CPU: 50, MemoryMB: 32 },
          },
        ],
      },
    ],
  };
}
