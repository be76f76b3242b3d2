/** Intentions one by one, as the server keeps them: a list of sources in the entry of a destination. */
import type { ShownConfigEntry } from '../../../../src/contract/config-entry.ts';
import type { IntentionMatrix } from '../../../../src/model/config-entry/intention-answers.ts';

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

/** A cell of the matrix, as the server decided it. */
export interface Cell {
  readonly decision: 'allow' | 'deny' | 'conditional';
  /** Of the intention that decides; absent: the default decides. */
  readonly precedence?: number | undefined;
}

export function cellOf(matrix: IntentionMatrix, row: number, column: number): Cell {
  const intention = matrix.Intentions[matrix.By[column]?.[row] ?? -1];
  if (intention?.Permissions != null)
    return { decision: 'conditional', precedence: intention.Precedence };
  const decision = matrix.Allowed[column]?.[row] === true ? 'allow' : 'deny';
  return { decision, precedence: intention?.Precedence };
}
