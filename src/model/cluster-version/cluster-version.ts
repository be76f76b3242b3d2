import { About, Flag, FullList, Instant, type Model, Text, Type, Whole } from '../schema.ts';

/** A server that was seen lately, and the newest version of each table that it reads, by name. */
export interface SeenServer {
  readonly ID: string;
  readonly Address: string;
  /** Of its program. */
  readonly Version: string;
  readonly SeenAt: number;
  /** Empty: it does not tell, as programs of before did. */
  readonly Tables: Readonly<Record<string, number>>;
}

/** The form in which several servers write the state that they share. There is a single row. */
export interface ClusterVersion {
  readonly ID: 'version';
  /** The version in which each table is written. A table without an entry is not written yet. */
  readonly Tables: Readonly<Record<string, number>>;
  /** An operator forbids to raise them. */
  readonly Hold: boolean;
  readonly RaisedAt: number;
  readonly Servers: readonly SeenServer[];
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

const PendingTableSchema = Type.Object({
  Table: Text(),
  Written: About('The version in which it is written; 0: it is not written.', Whole()),
  Newest: About('The newest version that the leader writes.', Whole()),
});

const UpgradeServerSchema = Type.Object({
  ID: Text(),
  Address: Text(),
  Version: Text(),
  Connected: Flag(),
  SeenAt: About('Unix nanoseconds.', Instant()),
  Lacks: About(
    'The tables that it does not read in their newest version.',
    FullList(Type.String()),
  ),
});

/** Source: docs/operations/upgrade.md. */
export const UpgradeSchema = Type.Object({
  Final: About('Whether every table is written in its newest version.', Flag()),
  Hold: About('Whether an operator forbids to raise versions.', Flag()),
  RaisedAt: About('When versions were raised last: Unix nanoseconds.', Instant()),
  Pending: FullList(PendingTableSchema),
  Servers: About('The servers of the last 24 hours.', FullList(UpgradeServerSchema)),
});
export type Upgrade = Model<typeof UpgradeSchema>;

export const HoldSchema = Type.Object({
  Hold: About('Forbid to raise versions, or allow it again.', Flag()),
});
