/** The summary of many lives: their options, their faults, and the seeds with violations. */
import type { LogName } from './logs/log-names.ts';
import type { Outcome } from './simulation.ts';

/** Number of hashes in the summary: enough to see whether another run was the same. */
const hashesTold = 10;
/** A kind of fault that strikes less often in a thousand lives is marked as hardly tried. */
const strikesPerThousandMin = 20;

export interface Shape {
  readonly nodes: number;
  readonly clusters: number;
  readonly servers: number;
  readonly log: LogName;
  readonly hours: number;
  readonly calm: boolean;
  readonly restores: boolean;
  readonly recoveries: boolean;
  readonly deciders: boolean;
  readonly processes: number;
}

export class Summary {
  /** Seeds of the lives with violations. */
  readonly failed: number[] = [];
  /** Seeds of the lives whose hash is not the kept one. */
  readonly differing: number[] = [];
  readonly #hashes: string[] = [];
  readonly #faults = new Map<string, number>();
  #lives = 0;

  /** @param difference how its hash differs from the kept one */
  add({ seed, hash, faults, violations }: Outcome, difference?: string): void {
    this.#lives++;
    if (difference !== undefined) this.differing.push(seed);
    if (violations.length > 0) this.failed.push(seed);
    if (this.#hashes.length < hashesTold) this.#hashes.push(hash.slice(0, 16));
    for (const [kind, count] of Object.entries(faults)) {
      this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + count);
    }
  }

  lines(
    { nodes, clusters, servers, log, hours, calm, processes, ...kind }: Shape,
    realMs: number,
  ): readonly string[] {
    const { failed, differing } = this;
    const place = clusters === 1 ? `${nodes} nodes` : `${clusters} clusters of ${nodes} nodes`;
    const over = log === 'memory' ? '' : ` over ${log}`;
    const led = servers === 1 ? '' : ` and ${servers} servers${over}`;
    const hurry = calm ? ', no users in a hurry' : '';
    const also = (['restores', 'recoveries', 'deciders'] as const).filter((name) => kind[name]);
    const people = `${hurry}${also.map((name) => `, and ${name}`).join('')}`;
    const where = processes === 1 ? 'in one process' : `in ${processes} processes`;
    return [
      `${this.#lives} seeds, ${counted(failed, 'with violations')}`,
      ...(differing.length === 0 ? [] : [counted(differing, 'with another hash than the file')]),
      `each ${hours} h under load and faults, with ${place}${led}${people}`,
      `${(realMs / 60_000).toFixed(1)} minutes in all, ${where}`,
      'faults, the rarest first:',
      ...this.#faultLines(),
      `hashes of the first: ${this.#hashes.join(' ')}`,
    ];
  }

  #faultLines(): readonly string[] {
    const kinds = [...this.#faults].sort(([, left], [, right]) => left - right);
    const isRare = (count: number) => count * 1000 < strikesPerThousandMin * this.#lives;
    const rare = kinds.filter(([, count]) => isRare(count)).length;
    const least = `${strikesPerThousandMin} times in 1,000 seeds`;
    return [
      ...kinds.map(
        ([kind, count]) =>
          `${isRare(count) ? '!' : ' '}${String(count).padStart(8)}  ${kind}${isRare(count) ? ` (less than ${least})` : ''}`,
      ),
      rare === 0
        ? `every kind of fault struck at least ${least}`
        : `${rare} of ${kinds.length} kinds of faults struck less than ${least}`,
    ];
  }
}

const counted = (seeds: readonly number[], property: string): string =>
  `${seeds.length} ${property}${seeds.length > 0 ? `: ${seeds.join(', ')}` : ''}`;
