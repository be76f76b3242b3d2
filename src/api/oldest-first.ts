import type { idPrefix } from '../contract/query.ts';
/**
 * The order of the lists of evaluations, deployments and allocations: those of each namespace the
 * oldest first. Where the beginning of the id narrows the list down, it is in the order of the ids.
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

/** `rows` and `keyOf` of such a list. */
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

/** Where the rows of the namespace are, or those of all; of tables whose keys begin with it. */
export const wholeNamespace = (namespace: string): readonly string[] =>
  namespace === everyNamespace ? [defaultPartition] : inNamespace(namespace);

const isById = ({ namespace, query }: Asked): boolean =>
  namespace !== everyNamespace && query.prefix !== '';
