/** Intentions one by one, as the server keeps them: a list of sources in the entry of a destination. */
import type { ShownConfigEntry } from '../../../../src/contract/config-entry.ts';
import type { ShownIntention } from '../../../../src/model/config-entry/intention-answers.ts';

export const everyService = '*';

export interface Source {
  readonly Name: string;
  readonly Namespace?: string;
  readonly Partition?: string;
  readonly Peer?: string;
  readonly Action?: string;
  readonly Permissions?: readonly object[] | null;
  readonly Precedence?: number;
  readonly Description?: string;
}

export interface IntentionRow {
  readonly entry: ShownConfigEntry;
  readonly source: Source;
}

export const sourcesOf = (entry: ShownConfigEntry): readonly Source[] =>
  (entry.Sources as readonly Source[] | null) ?? [];

export const rowsOf = (entries: readonly ShownConfigEntry[]): readonly IntentionRow[] =>
  entries.flatMap((entry) => sourcesOf(entry).map((source) => ({ entry, source })));

export const keyOf = ({ entry, source }: IntentionRow): string =>
  JSON.stringify([entry.Namespace, entry.Name, ...identity(source)]);

/** An entry has each of these once. */
const identity = ({ Name, Namespace, Partition, Peer }: Source): readonly unknown[] => [
  Name,
  Namespace ?? '',
  Partition ?? '',
  Peer ?? '',
];

export const isSame = (one: Source, other: Source): boolean =>
  JSON.stringify(identity(one)) === JSON.stringify(identity(other));

/** The word of `Status kind="decision"`. */
export const decisionOf = ({ Permissions, Action }: Pick<Source, 'Permissions' | 'Action'>) =>
  Permissions != null ? 'conditional' : Action === 'allow' ? 'allow' : 'deny';

/** An entry as it can be written again. */
export function writable(entry: ShownConfigEntry, sources: readonly Source[]): object {
  const { CreateIndex: _, ModifyIndex: __, ...rest } = entry;
  return { ...rest, Sources: sources };
}

/** A matrix cell: the decision of the first intention that fits, or of the default. */
export interface Cell {
  readonly decision: 'allow' | 'deny' | 'conditional' | 'unknown';
  /** Absent: the default decides. */
  readonly precedence?: number | undefined;
}

interface Caller {
  readonly name: string;
  readonly namespace: string;
  readonly partition: string;
}

/**
 * `intentions` come by precedence, so the first that fits decides. test/ui/mesh.test.ts compares the cells with the
 * answers of the server.
 */
export function cellOf(
  caller: Caller,
  intentions: readonly ShownIntention[] | undefined,
  defaultAllows: boolean | undefined,
): Cell {
  if (intentions === undefined) return { decision: 'unknown' };
  const found = intentions.find(
    ({ SourceName, SourceNamespace, SourcePartition, SourcePeer }) =>
      SourcePeer === '' &&
      SourcePartition === caller.partition &&
      (SourceNamespace === everyService || SourceNamespace === caller.namespace) &&
      (SourceName === everyService || SourceName === caller.name),
  );
  if (found !== undefined) {
    return { decision: decisionOf(found), precedence: found.Precedence };
  }
  if (defaultAllows === undefined) return { decision: 'unknown' };
  return { decision: defaultAllows ? 'allow' : 'deny' };
}
