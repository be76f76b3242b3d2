import { FormUnfinished } from './errors.ts';
import type { AnyDefinition, AnyTable } from './table.ts';
import type { Snapshot, Stamps } from './types.ts';

/** Versions of tables, by name. */
export type TableVersions = Readonly<Record<string, number>>;

/**
 * Where the state itself says in which versions its tables are written, as processes of different programs
 * hold one log.
 */
export interface FormSource {
  /** The table that says it. It is always written in its own version. */
  readonly table: string;
  /** The table that is written once every process reads batches that are compressed. It has no rows. */
  readonly packing?: string;
  /** `undefined`: the state says nothing, so every table is written in its newest version. */
  of(snapshot: Pick<Snapshot, 'table'>): TableVersions | undefined;
}

/** The newest versions that a program reads and writes. */
export const newestVersions = (definitions: readonly AnyDefinition[]): TableVersions =>
  Object.fromEntries(definitions.map(({ name, version }) => [name, version]));

/**
 * Why a program with these tables cannot hold a state whose tables are written in those versions; `undefined`:
 * it can.
 */
export function formFault(
  versions: TableVersions,
  definitions: readonly AnyDefinition[],
): string | undefined {
  const known = new Map(definitions.map((definition) => [definition.name, definition]));
  for (const [name, version] of Object.entries(versions)) {
    const definition = known.get(name);
    if (definition === undefined) return `it has a table ${name}`;
    if (definition.version < version) {
      return `its table ${name} has version ${version}, and this program knows up to ${definition.version}`;
    }
    if (definition.version > version && definition.downcast === undefined) {
      return `its table ${name} has version ${version}, which this program no longer writes`;
    }
  }
  return undefined;
}

/** A table in the form of a state. */
interface WrittenTable {
  /** `undefined`: it is not written. */
  readonly version: number | undefined;
  readonly entryHead: string;
}

/**
 * The versions in which a state is written.
 *
 * Invariants
 *  F1. A row is shown here as every reader of the log will show it: as the row that was written in the older
 *      version, lifted again. So a new program shows nothing that others lose.
 *  F2. A table that is not written stays empty.
 */
export class Form {
  readonly #versions: TableVersions;
  readonly #source: string;
  /** How tables are written, since each row asks. */
  readonly #written = new Map<AnyDefinition, WrittenTable>();
  readonly isPackable: boolean;

  private constructor(versions: TableVersions, { table, packing = '' }: FormSource) {
    this.#versions = versions;
    this.#source = table;
    this.isPackable = versions[packing] !== undefined;
  }

  /** `undefined`: every table is written in its newest version. */
  static of(source: FormSource | undefined, snapshot: Pick<Snapshot, 'table'>): Form | undefined {
    const versions = source?.of(snapshot);
    return versions === undefined ? undefined : new Form(versions, source!);
  }

  /** The version in which the table is written; `undefined`: it is not written. */
  versionOf({ definition }: AnyTable): number | undefined {
    return this.#writtenIn(definition).version;
  }

  /** The beginning of an entry of the table in a batch. */
  entryHead({ definition }: AnyTable): string {
    return this.#writtenIn(definition).entryHead;
  }

  #writtenIn(definition: AnyDefinition): WrittenTable {
    const known = this.#written.get(definition);
    if (known !== undefined) return known;
    const version = this.#versionIn(definition);
    const made = { version, entryHead: `[${JSON.stringify(definition.name)},${version},` };
    this.#written.set(definition, made);
    return made;
  }

  #versionIn({ name, version }: AnyDefinition): number | undefined {
    if (name === this.#source) return version;
    const written = this.#versions[name];
    return written === undefined ? undefined : Math.min(written, version);
  }

  /** The row as it is written. @throws FormUnfinished */
  written(table: AnyTable, row: Stamps): Stamps {
    const { definition } = table;
    const version = this.versionOf(table);
    if (version === undefined) throw new FormUnfinished(definition.name);
    if (version === definition.version) return row;
    return definition.downcast!(row, version) as Stamps;
  }

  /** F1. @throws FormUnfinished */
  shown(table: AnyTable, row: Stamps): Stamps {
    const written = this.written(table, row);
    if (written === row) return row;
    return table.definition.upcast!(written, this.versionOf(table)!);
  }

  /** @throws FormUnfinished if rows of these versions would be newer than what is written */
  requireWritten(versions: TableVersions): void {
    for (const [name, version] of Object.entries(versions)) {
      if (name === this.#source || version <= (this.#versions[name] ?? 0)) continue;
      throw new FormUnfinished(name);
    }
  }
}
