import type { Fault } from '../errors.ts';
import type { Type } from '../schema.ts';
import type { ConfigEntry, ConfigKindName, EntryKey } from './config-entry.ts';

/**
 * A kind of configuration entry as data: all that is not common to the sixteen. Each is one file,
 * and `kinds.ts` lists them. Source: docs/contract/configuration.md#kinds.
 */
export interface ConfigKind<E extends ConfigEntry = ConfigEntry> {
  readonly kind: ConfigKindName;
  /** One sentence for people about the purpose of the kind. */
  readonly summary: string;
  /** For the reference: the parts that act here and those that need proxies; absent: all need them. */
  readonly acts?: string;
  /** For the reference: the users of an entry of the kind, and the effect of a deletion on them. */
  readonly deletion: { readonly usedBy: string; readonly outcome: string };
  /** `entryFields`, then the kind's own fields, then `stamps`. */
  readonly schema: Type.TObject;
  /** The one name that an entry of the kind can have in a partition; it may be left out then. */
  readonly onlyName?: (partition: string) => string;
  /** It is of a whole partition: it lives in the namespace `default`, whichever one is asked for. */
  readonly ofPartition?: true;
  /** Whether an entry may be named `*`. */
  readonly allowsEvery?: true;
  /** Whose right it takes to read and to write entries of the kind. */
  readonly access: KindAccess;
  /** Only the server writes it. */
  readonly isDerived?: true;
  /**
   * The complete entry in its one spelling, where a caller may write it in several ways. It and `services`
   * also see faulty entries, as permissions are asked for first.
   */
  readonly normalize?: (entry: E) => E;
  /** The same in the order that is kept. Faults are told before, at the places that the caller knows. */
  readonly arrange?: (entry: E) => E;
  /** Everything wrong with the normalized entry alone, beyond its schema; pointers start at the entry. */
  readonly faults?: (entry: E) => readonly Fault[];
  /** Faults of the change from one entry (`undefined`: there was none) to this one, a sentence each. */
  readonly changeFaults?: (before: E | undefined, after: E, view: EntryView) => readonly string[];
  /** Services besides its own that the entry names or belongs to, whose changes affect it. */
  readonly services?: (entry: E) => readonly ServiceName[];
  /** The entries of other kinds that it names, there or not: a change of these may affect it. */
  readonly names?: (entry: E) => readonly EntryKey[];
  /** The text field that holds a secret. It is sealed in a row of its own, and '' in the entry's. */
  readonly secret?: keyof E & string;
  /** An entry that applies as it is (with those of `exampleNeeds` before it), for the reference. */
  readonly example: Readonly<Record<string, unknown>>;
  readonly exampleNeeds?: readonly Readonly<Record<string, unknown>>[];
}

/** A service that an entry refers to. */
export interface ServiceName {
  readonly partition: string;
  readonly namespace: string;
  readonly name: string;
}

/** Source: docs/contract/configuration.md#permissions-by-kind. */
export type KindAccess =
  /** `service:read` and `service:write` on the name. Writing asks `service:read` on what it names. */
  | 'service'
  /** `service:read`; written by `mesh:write` (or `operator:write`). */
  | 'gateway'
  /** `mesh:read` and `mesh:write` (or those of `operator`). */
  | 'mesh'
  /** Read by everybody; `mesh:write`. */
  | 'open'
  /** `intention:read` and `intention:write` on the name. */
  | 'intentions';

/**
 * The entries as they would be after a write, for checks across entries. A kind's `secret` is '' in them.
 */
export interface EntryView {
  readonly get: (key: EntryKey) => ConfigEntry | undefined;
  /** The entry as it was before the write. */
  readonly before: (key: EntryKey) => ConfigEntry | undefined;
  /** In the order of their names. */
  readonly list: (place: Omit<EntryKey, 'name'>) => Iterable<ConfigEntry>;
  /** Those of a kind in all namespaces of a partition: it looks through everything that is there. */
  readonly everywhere: (partition: string, kind: ConfigKindName) => Iterable<ConfigEntry>;
  /** Entries that refer to the service (`ConfigKind.services`), itself not among them. */
  readonly referrers: (service: ServiceName) => Iterable<EntryKey>;
  /** Entries that name this one (`ConfigKind.names`), whether it is there or not. */
  readonly namers: (key: EntryKey) => Iterable<EntryKey>;
}

/**
 * What is wrong with all entries together once these have changed; made by `graph.ts`,
 * `in-use.ts` and `ingress-checks.ts` and listed in `cross-checks.ts`. A sentence each; empty: nothing.
 */
export type CrossCheck = (view: EntryView, changed: readonly EntryKey[]) => readonly string[];

/**
 * Writes that follow from a change of these entries, in the same transaction, once the checks have passed.
 * `now` is the time in RFC 3339. Putting an equal entry changes nothing.
 */
export type Consequence = (
  view: EntryView,
  changed: readonly EntryKey[],
  now: string,
) => { readonly puts: readonly ConfigEntry[]; readonly removals: readonly EntryKey[] };
