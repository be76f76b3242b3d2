/** Hashes of lives in a file, to compare a later version of the product with an earlier one. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { LogName } from './logs/log-names.ts';
import type { Outcome } from './simulation.ts';

/** The options of a life that its hash depends on, besides the seed. */
export interface LifeShape {
  readonly nodes: number;
  readonly clusters: number;
  readonly servers: number;
  readonly log: LogName;
  readonly hours: number;
  readonly calm: boolean;
  readonly restores: boolean;
  readonly recoveries: boolean;
  readonly deciders: boolean;
}

const digits = 16;

/** The file: a first line with the shape, then a line for each seed: `SEED HASH`. */
export class KeptHashes {
  readonly #bySeed: ReadonlyMap<number, string>;

  constructor(bySeed: ReadonlyMap<number, string>) {
    this.#bySeed = bySeed;
  }

  /** @throws Error if the file has another shape or contains no hashes */
  static read(path: string, shape: LifeShape): KeptHashes {
    const [first, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
    if (first !== shapeLine(shape)) {
      throw new Error(`${path} has lives with "${first}", not with "${shapeLine(shape)}"`);
    }
    const bySeed = new Map(
      lines.map((line) => {
        const [, seed, hash] = /^(\d+) ([0-9a-f]{16})$/.exec(line) ?? [];
        if (hash === undefined) throw new Error(`${path}: "${line}" is not a seed and its hash`);
        return [Number(seed), hash];
      }),
    );
    return new KeptHashes(bySeed);
  }

  /** How the hash of a life differs from the kept hash of its seed; `undefined` if they are the same. */
  difference({ seed, hash }: Outcome): string | undefined {
    const kept = this.#bySeed.get(seed);
    if (kept === undefined) return 'the file has no hash of this seed';
    return hash.startsWith(kept) ? undefined : `the file has the hash ${kept}`;
  }
}

export function keepHashes(path: string, shape: LifeShape, outcomes: readonly Outcome[]): void {
  const lines = outcomes.map(({ seed, hash }) => `${seed} ${hash.slice(0, digits)}`);
  writeFileSync(path, `${[shapeLine(shape), ...lines].join('\n')}\n`);
}

const shapeLine = (shape: LifeShape): string => {
  const { nodes, clusters, servers, log, hours } = shape;
  const over = log === 'memory' ? '' : ` --log ${log}`;
  const several = servers === 1 ? '' : ` --servers ${servers}${over}`;
  const users = `${shape.calm ? ' --calm' : ''}${shape.restores ? ' --restores' : ''}`;
  const apart = `${shape.recoveries ? ' --recoveries' : ''}${shape.deciders ? ' --deciders' : ''}`;
  return `--nodes ${nodes} --clusters ${clusters}${several} --hours ${hours}${users}${apart}`;
};
