/** What many lives come to: their shape, what struck in them, and which ones went wrong. */
import type { Outcome } from './simulation.ts';

/** So many hashes tell whether another run was the same. */
const hashesTold = 10;

export interface Shape {
  readonly nodes: number;
  readonly clusters: number;
  readonly hours: number;
}

export class Summary {
  /** Seeds in whose lives some guarantee did not hold. */
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

  lines({ nodes, clusters, hours }: Shape, realMs: number): readonly string[] {
    const kinds = [...this.#faults].sort(([, left], [, right]) => left - right);
    const which = this.failed.length > 0 ? `: ${this.failed.join(', ')}` : '';
    const place = clusters === 1 ? `${nodes} nodes` : `${clusters} clusters of ${nodes} nodes`;
    return [
      `${this.#lives} seeds, ${this.failed.length} with violations${which}`,
      `each ${hours} h under load and faults, with ${place}; ${(realMs / 60_000).toFixed(1)} minutes in all`,
      `hashes of the first: ${this.#hashes.join(' ')}`,
      'faults that struck, the rarest first:',
      ...kinds.map(([kind, count]) => `${String(count).padStart(8)}  ${kind}`),
    ];
  }
}
