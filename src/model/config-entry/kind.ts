import type { Fault } from '../errors.ts';
import type { Type } from '../schema.ts';
import type { ConfigEntry, ConfigKindName, EntryKey } from './config-entry.ts';

/**
 * A kind of configuration entry as data: everything in which the kinds differ. Each kind is a file, and
 * `kinds.ts` lists them. Source: docs/contract/configuration.md#kinds.
 */
export interface ConfigKind<E extends ConfigEntry = ConfigEntry> {
  readonly kind: ConfigKindName;
  /** The purpose of the kind in a sentence. */
  readonly summary: string;
  /**
   * For the reference: the effect of the entry in Roster, and the parts that need proxies. Absent: all of it
   * needs proxies.
   */
  readonly acts?: string;
  /** For the reference: the users of an entry of the kind, and the effect of a deletion on them. */
  readonly deletion: { readonly usedBy: string; readonly outcome: string };
  /** `entryFields`, then the kind's own fields, then `stamps`. */
  readonly schema: Type.TObject;
  /** The only name that an entry of the kind can have in a partition; a request may omit it. */
  readonly onlyName?: (partition: string) => string;
  /**
   * The entry is of a whole partition: it lives in the namespace `default`, whatever namespace a request
   * names.
   */
  readonly ofPartition?: true;
  /** Whether an entry may be named `*`. */
  readonly allowsEvery?: true;
  /** The rights to read and to write entries of the kind. */
  readonly access: KindAccess;
  /** Only the server writes entries of the kind. */
  readonly isDerived?: true;
  /**
   * The complete entry in canonical form, if a caller may write it in several ways. It and `services` also
   * get faulty entries, as permissions are checked before faults.
   */
  readonly normalize?: (entry: E) => E;
  /**
   * Puts the lists of a right entry into the stored order. Faults are told before, at the caller's places.
   */
  readonly arrange?: (entry: E) => E;
  /** The faults of the normalized entry alone, beyond its schema; pointers start at the entry. */
  readonly faults?: (entry: E) => readonly Fault[];
  /** Faults of the change from an entry (`undefined`: none existed) to this entry, a sentence each. */
  readonly changeFaults?: (before: E | undefined, after: E, view: EntryView) => readonly string[];
  /** Other services that the entry names or belongs to, and whose changes affect it. */
  readonly services?: (entry: E) => readonly ServiceName[];
  /**
   * The entries of other kinds that the entry names, whether they exist or not. Their changes may affect it.
   */
  readonly names?: (entry: E) => readonly EntryKey[];
  /**
   * The text field that holds a secret. The secret is sealed in a row of its own, and '' in the entry's row.
   */
  readonly secret?: keyof E & string;
  /** For the reference: an entry that can be applied as it is, after those of `exampleNeeds`. */
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
  /**
   * `service:read` and `service:write` on the name. A write also needs `service:read` on the named services.
   */
  | 'service'
  /** `service:read` to read; `mesh:write` (or `operator:write`) to write. */
  | 'gateway'
  /** `mesh:read` and `mesh:write` (or the same of `operator`). */
  | 'mesh'
  /** Everybody may read; `mesh:write` to write. */
  | 'open'
  /** `intention:read` and `intention:write` on the name. */
  | 'intentions';

/** The entries as they would be after a write, for checks across entries. Their secrets are ''. */
export interface EntryView {
  readonly get: (key: EntryKey) => ConfigEntry | undefined;
  /** The entry before the write. */
  readonly before: (key: EntryKey) => ConfigEntry | undefined;
  /** In the order of their names. */
  readonly list: (place: Omit<EntryKey, 'name'>) => Iterable<ConfigEntry>;
  /** The entries of a kind in all namespaces of a partition. Looks through all of them. */
  readonly everywhere: (partition: string, kind: ConfigKindName) => Iterable<ConfigEntry>;
  /** Other entries that refer to the service (`ConfigKind.services`). */
  readonly referrers: (service: ServiceName) => Iterable<EntryKey>;
  /** Entries that name this entry (`ConfigKind.names`), whether it exists or not. */
  readonly namers: (key: EntryKey) => Iterable<EntryKey>;
}

/**
 * The faults of all entries together after these entries changed, a sentence each. The checks are in
 * `graph.ts`, `in-use.ts` and `ingress-checks.ts`, and `cross-checks.ts` lists them.
 */
export type CrossCheck = (view: EntryView, changed: readonly EntryKey[]) => readonly string[];

/**
 * Writes that follow from a change of these entries, in the same transaction, once the checks have passed.
 * `now` is the time in RFC 3339. To put an equal entry changes nothing.
 */
export type Consequence = (
  view: EntryView,
  changed: readonly EntryKey[],
  now: string,
) => { readonly puts: readonly ConfigEntry[]; readonly removals: readonly EntryKey[] };
