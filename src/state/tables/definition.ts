import { defaultPartition, type Scope } from '../../model/namespace/namespace.ts';
import type { Key, Stamps, TableDefinition } from '../types.ts';

/** The scheduler's nouns live in the default partition. */
export const inNamespace = (namespace: string, ...rest: Key): Key =>
  // Most keys have three parts, and a list that is spread costs a second one.
  rest.length === 1
    ? [defaultPartition, namespace, rest[0]!]
    : [defaultPartition, namespace, ...rest];

/** The key of a record outside the scheduler, which may live in any partition. */
export const inScope = ({ partition, namespace }: Scope, ...rest: Key): Key => [
  partition,
  namespace,
  ...rest,
];

/** The key parts of the scope of a row. */
export const scopeOf = (row: { readonly Partition: string; readonly Namespace: string }): Key => [
  row.Partition,
  row.Namespace,
];

/** Numbers as key parts keep their order. */
export function numberPart(value: number): string {
  // The rows of a transaction often have the same.
  if (value !== lastPart.value) {
    lastPart = { value, text: value.toString(16).padStart(14, '0') };
  }
  return lastPart.text;
}

let lastPart = { value: -1, text: '' };

/** Keeps the literal names of a definition's indexes. */
export const table = <R extends Stamps, I extends string = never>(
  definition: TableDefinition<R, I>,
): TableDefinition<R, I> => definition;
