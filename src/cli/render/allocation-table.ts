import type { AllocationStub } from '../../model/allocation/allocation-stub.ts';
import type { Context } from '../context.ts';
import { type Columns, printTable } from '../list-command.ts';
import { ago, byName, oneLine, orDash } from './text.ts';

type Row = Pick<
  AllocationStub,
  | 'ID'
  | 'Name'
  | 'NodeName'
  | 'NodeID'
  | 'DesiredStatus'
  | 'ClientStatus'
  | 'ModifyTime'
  | 'CreateIndex'
>;

/** The columns that all tables of allocations share. */
export const allocationColumns = {
  ID: ({ ID }, { id }) => id(ID),
  Name: ({ Name }) => oneLine(Name),
  Node: ({ NodeName, NodeID }, { id }) => orDash(NodeName || id(NodeID)),
  Desired: ({ DesiredStatus }) => DesiredStatus,
  Status: ({ ClientStatus }, { screen }) => screen.status(ClientStatus),
  Changed: ({ ModifyTime }, { nowMs }) => ago(ModifyTime, nowMs),
} satisfies Columns<Row>;

/** Prints a table of allocations, by name; of allocations with the same name the newest comes first. */
export const printAllocationTable = <T extends Row>(
  context: Context,
  allocations: readonly T[],
  columns: Columns<T> = allocationColumns,
): Promise<void> =>
  printTable(
    context,
    [...allocations].sort(
      (left, right) => byName(left, right) || right.CreateIndex - left.CreateIndex,
    ),
    columns,
  );
