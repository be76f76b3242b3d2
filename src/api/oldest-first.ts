import type { idPrefix } from '../contract/query.ts';
/**
 * The order of evaluations, deployments and allocations in lists: by namespace, and then the oldest
 * first. With a prefix of the id they are ordered by id.
 * Source: docs/contract/http.md#the-order-of-lists.
 */
import { defaultPartition, everyNamespace } from '../model/namespace/namespace.ts';
import { inNamespace, numberPart } from '../state/tables.ts';
import type { Snapshot, Stamps, TableReader } from '../state/types.ts';
import { scanPage } from './list.ts';
import type { Input, PageStart } from './route.ts';

interface Made extends Stamps {
  readonly ID: string;
  readonly Namespace: string;
}

type Asked = Pick<Input<typeof idPrefix>, 'namespace' | 'query' | 'snapshot'>;

/** The `rows` and `keyOf` of such a list. */
export const oldestFirst = <R extends Made>(
  tableIn: (snapshot: Snapshot) => TableReader<R, 'created'>,
) => ({
  rows: (input: Asked, page: PageStart): Iterable<R> => {
    const range = { prefix: wholeNamespace(input.namespace), ...scanPage(page) };
    const table = tableIn(input.snapshot);
    return isById(input)
      ? table.scan({ ...range, text: input.query.prefix })
      : table.by('created').scan(range);
  },
  keyOf: ({ Namespace, CreateIndex, ID }: R, input: Asked): readonly string[] =>
    isById(input)
      ? [Namespace, ID]
      : [Namespace, numberPart(CreateIndex), ...inNamespace(Namespace, ID)],
});

/** The key prefix of a namespace, or of all namespaces. */
export const wholeNamespace = (namespace: string): readonly string[] =>
  namespace === everyNamespace ? [defaultPartition] : inNamespace(namespace);

const isById = ({ namespace, query }: Asked): boolean =>
  namespace !== everyNamespace && query.prefix !== '';
