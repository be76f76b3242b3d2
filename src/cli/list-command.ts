import type { ItemOf, QueryOf } from '../contract/endpoint.ts';
import type { EveryNoun } from '../contract/every.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import type { Answer } from '../sdk/client.ts';
import type { Context } from './context.ts';
import type {
  ArgumentDefinition,
  ArgumentKind,
  ClientCommand,
  CommandHeading,
  OptionDefinition,
} from './definition.ts';
import { exitCodes } from './errors.ts';
import { camelCase } from './options.ts';

type EndpointIn<C> = C extends unknown ? C[keyof C] : never;
type Lists = Extract<EndpointIn<EveryNoun>, { kind: 'list' }>;

/** `GET /v1/acl/tokens` */
export type ListRequest = `GET ${Lists['path']}`;
type ListAt<R extends ListRequest> = Extract<
  Lists,
  { path: R extends `GET ${infer P}` ? P : never }
>;
export type ItemAt<R extends ListRequest> = ItemOf<ListAt<R>>;

/** The query parameters of the endpoint, by its contract. */
type ParameterAt<R extends ListRequest> =
  | keyof QueryOf<ListAt<R>>
  | keyof Pick<SharedQuery, 'filter'>;

/** An option, or an argument, whose text is sent as a query parameter. */
interface QueryOption {
  /** The default is the name of the parameter. */
  readonly name?: string;
  readonly value: string;
  readonly description: string;
  readonly completes?: ArgumentKind;
  readonly isLongText?: true;
  /** Makes the text that is sent, such as the id for a name. */
  readonly resolve?: (context: Context, text: string) => Promise<string>;
}

/** The cells of a table by their titles. */
export type Columns<T> = Readonly<Record<string, (record: T, context: Context) => string>>;

interface ListDescription<R extends ListRequest> {
  readonly request: R;
  readonly query?: { readonly [P in ParameterAt<R>]?: QueryOption };
  /** An optional argument that is a query parameter. */
  readonly argument?: {
    readonly parameter: ParameterAt<R>;
    readonly definition: ArgumentDefinition;
  };
  readonly options?: readonly OptionDefinition[];
  readonly details?: string;
  /** Compares two records; the default is the order of the server. */
  readonly order?: (left: ItemAt<R>, right: ItemAt<R>) => number;
  /** Printed instead of a table without rows. */
  readonly empty?: string;
  readonly columns: Columns<ItemAt<R>> | ((context: Context) => Columns<ItemAt<R>>);
  /** Printed after the table. */
  readonly hint?: (records: readonly ItemAt<R>[]) => string | undefined;
}

/** A command that prints the records of a list as a table. */
export const listCommand = <R extends ListRequest>(
  description: CommandHeading & ListDescription<R>,
): ClientCommand => ({
  words: description.words,
  summary: description.summary,
  ...nounList(description),
});

/** A command whose words and summary a noun gives. */
export type NounList = Omit<ClientCommand, keyof CommandHeading>;

/** The list of a noun (`noun-commands.ts`). */
export function nounList<R extends ListRequest>(description: ListDescription<R>): NounList {
  const { argument, options = [], details, order, empty, columns, hint } = description;
  // Every list of the API takes a filter.
  const every = { filter: filterQuery(), ...description.query };
  const query = Object.entries<QueryOption | undefined>(every).map(([parameter, given]) => ({
    parameter,
    option: { ...given!, name: given!.name ?? parameter },
  }));
  return {
    definition: {
      ...(argument && { arguments: [argument.definition] }),
      options: [...query.map(({ option: { resolve: _, ...option } }) => option), ...options],
      ...(details !== undefined && { details }),
      isPaged: true,
    },
    async run(context, [word], given) {
      const sent: Record<string, string | undefined> = {};
      if (argument !== undefined) sent[argument.parameter as string] = word || undefined;
      for (const { parameter, option } of query) {
        const text = given.text(camelCase(option.name)) || undefined;
        sent[parameter] = text && option.resolve ? await option.resolve(context, text) : text;
      }
      const records = await ask<ItemAt<R>>(context, description.request, sent);
      await printRecords(context, records, {
        records: order === undefined ? records : [...records].sort(order),
        empty,
        columns: typeof columns === 'function' ? columns(context) : columns,
      });
      const last = context.isJson ? undefined : hint?.(records);
      if (last !== undefined) await context.screen.line(last);
      return exitCodes.ok;
    },
  };
}

/** The contract has checked the names of the parameters where the list is described. */
async function ask<T>(
  { client }: Context,
  request: ListRequest,
  query: Readonly<Record<string, string | undefined>>,
): Promise<readonly T[]> {
  const read = client.calls.read as unknown as (
    ...words: readonly unknown[]
  ) => Promise<Answer<readonly T[]>>;
  return (await read(request, {}, {}, query)).value;
}

/** Prints an answer as JSON, or its records as a table. `empty` is printed instead of a table without rows. */
export function printRecords<T>(
  context: Context,
  answer: unknown,
  given: {
    readonly records: readonly T[];
    readonly empty?: string | undefined;
    readonly columns: Columns<T>;
  },
): Promise<number> {
  const { records, empty, columns } = given;
  return context.show(answer, () =>
    records.length === 0 && empty !== undefined
      ? context.screen.line(empty)
      : printTable(context, records, columns),
  );
}

export const printTable = <T>(
  context: Context,
  records: readonly T[],
  columns: Columns<T>,
): Promise<void> =>
  context.screen.table(
    Object.keys(columns),
    records.map((record) => Object.values(columns).map((cell) => cell(record, context))),
  );

/** The option `-filter` of a list. */
export const filterQuery = (example?: string): QueryOption => ({
  value: 'EXPRESSION',
  description:
    example === undefined
      ? 'Only records that match the expression.'
      : `Only records that match the expression, such as '${example}'.`,
  isLongText: true,
});
