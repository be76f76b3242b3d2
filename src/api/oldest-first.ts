import type { idPrefix } from '../contract/query.ts';
/**
 * The order of evaluations, deployments and allocations in lists: by namespace, and then the oldest
 * first. With a prefix of the id they are ordered by id.
 * Source: docs/contract/http.md#the-order-of-lists.
 */
import { defaultPartition, everyNamespace } from '../model/namespace/namespace.ts';
import { inNamespace, numberPart } from '../state/tables.ts';
import type { Stamps, TableDefinition } from '../state/types.ts';
import { scanPage } from './list.ts';
import type { Following, Input, PageStart } from './route.ts';

interface Made extends Stamps {
  readonly ID: string;
  readonly Namespace: string;
}

type Asked = Pick<Input<typeof idPrefix>, 'namespace' | 'query' | 'snapshot'>;

/** `rows`, `keyOf` and `follows` of such a list. */
export const oldestFirst = <R extends Made>(definition: TableDefinition<R, 'created'>) => ({
  follows: (input: Asked): Following<R> => ({
    table: definition.name,
    order: 'up',
    isIn: (row) =>
      isWithin(row, input.namespace) && (!isById(input) || row.ID.startsWith(input.query.prefix)),
  }),
  rows: (input: Asked, page: PageStart): Iterable<R> => {
    const range = { prefix: wholeNamespace(input.namespace), ...scanPage(page) };
    const table = input.snapshot.table(definition);
    return isById(input)
      ? table.scan({ ...range, text: input.query.prefix })
      : table.by('created').scan(range);
  },
  keyOf: ({ Namespace, CreateIndex, ID }: R, input: Asked): readonly string[] =>
    isById(input)
      ? [Namespace, ID]
      : [Namespace, numberPart(CreateIndex), ...inNamespace(Namespace, ID)],
});

/** Whether a list of the namespace, or of all namespaces, has the row. */
export const isWithin = (
  { Namespace }: { readonly Namespace: string },
  namespace: string,
): boolean => namespace === everyNamespace || namespace === Namespace;

/** The key prefix of a namespace, or of all namespaces. */
export const wholeNamespace = (namespace: string): readonly string[] =>
  namespace === everyNamespace ? [defaultPartition] : inNamespace(namespace);

const isById = ({ namespace, query }: Asked): boolean =>
  namespace !== everyNamespace && query.prefix !== '';
