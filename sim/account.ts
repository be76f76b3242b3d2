/**
 * The checkers' own copy of the state. It is built from the committed changes, so it is exact after each
 * transaction and independent of the indexes of the product.
 */
import type { Allocation } from '../src/model/allocation/allocation.ts';
import type { Job } from '../src/model/job/job.ts';
import {
  allocations,
  allTables,
  inNamespace,
  jobs,
  jobVersions,
  nodes,
  numberPart,
} from '../src/state/tables.ts';
import type { Change, Snapshot, Stamps, TableDefinition } from '../src/state/types.ts';

type Rows = Map<string, Stamps>;

const definitions = new Map(allTables.map((definition) => [definition.name, definition]));
const none: ReadonlyMap<string, Allocation> = new Map();

/** The key of a row in its table, as a text. */
export const rowKeyOf = (table: string, row: Stamps): string =>
  definitions.get(table)!.key(row).join('\0');

export class Account {
  /** Index of the newest transaction. */
  index = 0;
  readonly #tables = new Map<string, Rows>(allTables.map(({ name }) => [name, new Map()]));
  /** Allocations that have not ended, by node. */
  readonly #occupants = new Map<string, Map<string, Allocation>>();
  readonly #ofJobs = new Map<string, Map<string, Allocation>>();

  apply(changes: readonly Change[], index: number): void {
    for (const { table, before, after } of changes) this.#applyChange(table, before, after);
    this.index = index;
  }

  /** Copies the state that a server loaded from its disk. */
  reset(view: Snapshot): void {
    for (const rows of this.#tables.values()) rows.clear();
    this.#occupants.clear();
    this.#ofJobs.clear();
    for (const definition of allTables) {
      for (const row of view.table(definition).scan())
        this.#applyChange(definition.name, undefined, row);
    }
    this.index = view.index;
  }

  /** Takes in the state after a restore. Returns the rows that differ. */
  restore(view: Snapshot): Change[] {
    const changes: Change[] = [];
    for (const definition of allTables) {
      const { name } = definition;
      const gone = new Map(this.#tables.get(name)!);
      for (const after of view.table(definition).scan()) {
        const key = rowKeyOf(name, after);
        const before = gone.get(key);
        gone.delete(key);
        if (before?.ModifyIndex !== after.ModifyIndex) changes.push({ table: name, before, after });
      }
      for (const before of gone.values()) changes.push({ table: name, before, after: undefined });
    }
    this.reset(view);
    return changes;
  }

  rows<R extends Stamps>(definition: TableDefinition<R, string>): ReadonlyMap<string, R> {
    return this.#tables.get(definition.name)! as unknown as ReadonlyMap<string, R>;
  }

  get<R extends Stamps>(definition: TableDefinition<R, string>, ...key: string[]): R | undefined {
    return this.rows(definition).get(key.join('\0'));
  }

  node(id: string) {
    return this.get(nodes, id);
  }

  job(namespace: string, id: string): Job | undefined {
    return this.get(jobs, ...inNamespace(namespace, id));
  }

  allocation(id: string, namespace = 'default'): Allocation | undefined {
    return this.get(allocations, ...inNamespace(namespace, id));
  }

  /** The version of the job that the allocation runs; `undefined` if that version is no longer kept. */
  jobOf({ Namespace, JobID, JobVersion, JobCreateIndex }: Allocation): Job | undefined {
    const job = this.get(jobVersions, ...inNamespace(Namespace, JobID, numberPart(JobVersion)));
    return job?.CreateIndex === JobCreateIndex ? job : undefined;
  }

  occupantsOf(nodeId: string): Iterable<Allocation> {
    return (this.#occupants.get(nodeId) ?? none).values();
  }

  /** The allocations of every registration of the job's id. */
  allocationsOf({ Namespace, JobID }: { Namespace: string; JobID: string }): Iterable<Allocation> {
    return (this.#ofJobs.get(`${Namespace}\0${JobID}`) ?? none).values();
  }

  #applyChange(table: string, before: Stamps | undefined, after: Stamps | undefined): void {
    const rows = this.#tables.get(table)!;
    const key = rowKeyOf(table, (after ?? before)!);
    if (after === undefined) rows.delete(key);
    else rows.set(key, after);
    if (table !== allocations.name) return;
    this.#indexAllocation(before as Allocation | undefined, after as Allocation | undefined);
  }

  #indexAllocation(before: Allocation | undefined, after: Allocation | undefined): void {
    const { ID, NodeID, Namespace, JobID } = (after ?? before)!;
    const isOver = after === undefined || isEnded(after);
    if (isOver) this.#occupants.get(NodeID)?.delete(ID);
    else entry(this.#occupants, NodeID).set(ID, after);
    const ofJob = entry(this.#ofJobs, `${Namespace}\0${JobID}`);
    if (after === undefined) ofJob.delete(ID);
    else ofJob.set(ID, after);
  }
}

function entry(map: Map<string, Map<string, Allocation>>, key: string): Map<string, Allocation> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Map<string, Allocation>();
  map.set(key, made);
  return made;
}

/** Whether its node, or a server, has reported that it no longer runs. */
export const isEnded = ({ ClientStatus }: Pick<Allocation, 'ClientStatus'>): boolean =>
  ClientStatus === 'complete' || ClientStatus === 'failed' || ClientStatus === 'lost';

/** Whether it runs or is to run. */
export const isLive = (allocation: Pick<Allocation, 'ClientStatus' | 'DesiredStatus'>): boolean =>
  allocation.DesiredStatus === 'run' && !isEnded(allocation);
