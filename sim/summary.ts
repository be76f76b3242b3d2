/** The summary of many lives: their options, their faults, and the seeds with violations. */
import type { Outcome } from './simulation.ts';

/** Number of hashes in the summary: enough to see whether another run was the same. */
const hashesTold = 10;
/** A kind of fault that strikes less often in a thousand lives is marked as hardly tried. */
const strikesPerThousandMin = 20;

export interface Shape {
  readonly nodes: number;
  readonly clusters: number;
  readonly servers: number;
  readonly hours: number;
  readonly calm: boolean;
  readonly processes: number;
}

export class Summary {
  /** Seeds of the lives with violations. */
  readonly failed: number[] = [];
  readonly #hashes: string[] = [];
  readonly #faults = new Map<string, number>();
  #lives = 0;

  add({ seed, hash, faults, violations }: Outcome): void {
    this.#lives++;
    if (violations.length > 0) this.failed.push(seed);
    if (this.#hashes.length < hashesTold) this.#hashes.push(hash.slice(0, 16));
    for (const [kind, count] of Object.entries(faults)) {
      this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + count);
    }
  }

  lines(
    { nodes, clusters, servers, hours, calm, processes }: Shape,
    realMs: number,
  ): readonly string[] {
    const which = this.failed.length > 0 ? `: ${this.failed.join(', ')}` : '';
    const place = clusters === 1 ? `${nodes} nodes` : `${clusters} clusters of ${nodes} nodes`;
    const led = servers === 1 ? '' : ` and ${servers} servers`;
    const people = calm ? ', no users in a hurry' : '';
    const where = processes === 1 ? 'in one process' : `in ${processes} processes`;
    return [
      `${this.#lives} seeds, ${this.failed.length} with violations${which}`,
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
