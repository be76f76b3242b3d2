/**
 * The programs of the servers, which operators upgrade one by one under load, and back. The older program lacks a table and
 * a version of another table.
 *
 * 1. Every server that runs reads the versions in which the state is written. Others are kept out, and upgraded.
 * 2. No server is kept out before it had the newer program, unless an operator finished the upgrade.
 */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { ClusterVersion } from '../src/model/cluster-version/cluster-version.ts';
import { lacking } from '../src/server/upgrade/versions.ts';
import { StateError } from '../src/state/errors.ts';
import { newestVersions, type TableVersions } from '../src/state/form.ts';
import type { AnyDefinition } from '../src/state/table.ts';
import { allTables, clusterVersions, packedBatches, variables } from '../src/state/tables.ts';
import type { Change } from '../src/state/types.ts';
import type { Fault } from './faults.ts';
import { type RunningServer, rootToken, type SimulatedServer, type Storage } from './server.ts';

export interface Build {
  readonly version: string;
  readonly tables: readonly AnyDefinition[];
  /** The newest version of each table that it reads. */
  readonly reads: TableVersions;
}

const { [packedBatches.name]: _, ...olderVersions } = newestVersions(allTables);

export const olderBuild: Build = { version: '1.0.0', tables: allTables, reads: olderVersions };

/** The program of servers that are not upgraded. */
export const usualBuild: Build = { ...olderBuild, reads: newestVersions(allTables) };

const nextVariables: AnyDefinition = {
  ...variables,
  version: variables.version + 1,
  upcast: (row: unknown, version: number) =>
    version < variables.version ? variables.upcast!(row, version) : row,
  downcast: (row: unknown) => row,
};

const newerTables = allTables.map((one) => (one.name === variables.name ? nextVariables : one));

export const newerBuild: Build = {
  version: '2.0.0',
  tables: newerTables,
  reads: newestVersions(newerTables),
};

/** A commit is decided no longer than this before it is durable. */
const decidedMs = 90_000;

export interface UpgradesOptions {
  readonly world: SimulatedWorld;
  readonly all: readonly SimulatedServer<Storage>[];
  readonly leader: () => RunningServer | undefined;
  /** Takes a sentence that tells which rule is broken. */
  readonly broken: (sentence: string) => void;
}

interface Seen {
  readonly running: RunningServer;
  readonly sinceMs: number;
}

export class SimulatedUpgrades {
  readonly #options: UpgradesOptions;
  /** The versions in which the state is written. */
  #written: TableVersions = {};
  /** The written tables that a program does not read, as long as `#written` stays. */
  readonly #lacks = new Map<Build, readonly string[]>();
  readonly #seen = new Map<number, Seen>();
  /** Numbers of the servers that ran the newer program. */
  readonly #upgraded = new Set<number>();
  #isFinished = false;

  constructor(options: UpgradesOptions) {
    this.#options = options;
  }

  committed(changes: readonly Change[]): void {
    this.#lookAtServers();
    for (const { table, after } of changes) {
      if (table !== clusterVersions.name || after === undefined) continue;
      const { Tables } = after as unknown as ClusterVersion;
      this.#written = Tables;
      this.#lacks.clear();
    }
    this.#requireReaders();
  }

  /** The server with this number does not run for this reason. Returns whether that is right. */
  keptOut(number: number, sentence: string, { error }: { readonly error?: unknown }): boolean {
    const { all, broken } = this.#options;
    const server = all[number];
    const isTold = error instanceof StateError && error.code === 'state-format-unknown';
    const isMeant = isTold || sentence.includes('does not read');
    if (server?.build !== olderBuild || !isMeant) return false;
    if (!this.#upgraded.has(number) && !this.#isFinished) {
      broken(`server ${number} is kept out, though it never had the newer program: ${sentence}`);
    }
    server.build = newerBuild;
    return true;
  }

  faults(random: Random): readonly Fault[] {
    const { all, leader } = this.#options;
    const change = (from: Build, to: Build, isMeant: () => boolean) => () => {
      const found = all.filter(({ build, running }) => build === from && running !== undefined);
      const server = found[random.below(Math.max(found.length, 1))];
      if (server === undefined || !isMeant()) return undefined;
      server.build = to;
      server.crash('lost');
      server.startSoon();
      return 'over at once' as const;
    };
    const isWritten = () => lackOf(olderBuild, this.#written).length > 0;
    const back = (isMeant: () => boolean) => change(newerBuild, olderBuild, isMeant);
    return [
      {
        name: 'a server is upgraded',
        weight: 4,
        begin: change(olderBuild, newerBuild, () => true),
      },
      {
        name: 'a server goes back to the older program',
        weight: 2,
        begin: back(() => !isWritten()),
      },
      { name: 'a server of the older program comes too late', weight: 1, begin: back(isWritten) },
      {
        name: 'an operator holds the upgrade',
        weight: 1,
        lastsMinMs: 60_000,
        lastsMaxMs: 300_000,
        begin: () => {
          ask(leader(), 'hold', { Hold: true });
          return () => ask(leader(), 'hold', { Hold: false });
        },
      },
      {
        name: 'an operator finishes the upgrade',
        weight: 1,
        begin: () => {
          this.#isFinished = true;
          ask(leader(), 'finalize', {});
          return 'over at once';
        },
      },
    ];
  }

  #lookAtServers(): void {
    const { all, world } = this.#options;
    for (const [number, { running, build }] of all.entries()) {
      if (running === undefined) {
        this.#seen.delete(number);
        continue;
      }
      if (build === newerBuild) this.#upgraded.add(number);
      if (this.#seen.get(number)?.running === running) continue;
      this.#seen.set(number, { running, sinceMs: world.clock.monotonicMs() });
    }
  }

  #requireReaders(): void {
    const { all, world, broken } = this.#options;
    for (const [number, { sinceMs }] of this.#seen) {
      const lacks = this.#lacksOf(all[number]!.build ?? olderBuild);
      if (lacks.length === 0 || world.clock.monotonicMs() - sinceMs < decidedMs) continue;
      broken(`server ${number} runs and does not read what is written: ${lacks.join(', ')}`);
    }
  }

  #lacksOf(build: Build): readonly string[] {
    const known = this.#lacks.get(build);
    if (known !== undefined) return known;
    const lacks = lackOf(build, this.#written);
    this.#lacks.set(build, lacks);
    return lacks;
  }
}

const lackOf = ({ reads }: Build, written: TableVersions): readonly string[] =>
  lacking(reads, written);

function ask(leader: RunningServer | undefined, path: string, body: object): void {
  if (leader === undefined) return;
  const request = {
    method: 'PUT',
    path: `/v1/operator/upgrade/${path}`,
    query: '',
    headers: { 'x-registry-token': rootToken },
    body: Buffer.from(JSON.stringify(body)),
  };
  leader.process.post(() => void leader.handle(request));
}
