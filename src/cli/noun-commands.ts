import type { Answer, Client, Written } from '../sdk/client.ts';
import type { Context } from './context.ts';
import type {
  ArgumentDefinition,
  ClientCommand,
  CommandDefinition,
  CommandHeading,
  OptionDefinition,
} from './definition.ts';
import { CliError, exitCodes } from './errors.ts';
import type { NounList } from './list-command.ts';
import type { Options } from './options.ts';

/** How users call a noun. */
interface NounWords {
  /** The words before the verb: `['acl', 'role']`. */
  readonly words: readonly string[];
  /** `a role` */
  readonly one: string;
  /** `the roles` */
  readonly many: string;
  /** Commands with a word or a summary of their own; the defaults are `create` and `Create a role.` */
  readonly verbs?: {
    readonly [V in Verb]?: { readonly word?: string; readonly summary?: string };
  };
}

/** A noun of the API whose records are listed, read, written and deleted. */
interface Noun<T> extends NounWords {
  readonly argument: ArgumentDefinition;
  readonly list: NounList;
  readonly read: (client: Client, id: string) => Promise<Answer<T>>;
  readonly print: (context: Context, record: T) => Promise<void>;
  /** The id of the record that a user named; the default is the text itself. */
  readonly identify?: (context: Context, given: string) => Promise<string>;
  readonly create?: Writer & {
    readonly arguments?: readonly ArgumentDefinition[];
    readonly write: (
      context: Context,
      given: string | undefined,
      options: Options,
    ) => Promise<Written<T>>;
  };
  readonly update?: Writer & {
    readonly write: (
      context: Context,
      before: { readonly id: string; readonly record: T },
      options: Options,
    ) => Promise<Written<T>>;
  };
  readonly delete: Writer & {
    readonly run: (client: Client, id: string, options: Options) => Promise<Written<boolean>>;
    /** The record as messages name it; the default is its id. */
    readonly name?: (id: string) => string;
    /** The default is `The role ID is deleted.` */
    readonly done?: (id: string) => string;
  };
}

interface Writer {
  readonly options?: readonly OptionDefinition[];
  readonly details?: string;
}

export type Verb = 'list' | 'read' | 'create' | 'update' | 'delete';
export type NounCommands = { readonly [V in Verb]?: ClientCommand };

/** The commands of a noun. */
export function nounCommands<T>(noun: Noun<T>): NounCommands {
  const { argument, list, create, update, print } = noun;
  const headings = headingsOf(noun);
  const identify = noun.identify ?? (async (_, given) => given);
  const flags = argument.flags ?? ['name'];
  const definition = (writer: Writer): CommandDefinition => {
    const own = writer.options?.map(({ name }) => name) ?? [];
    return {
      // The option -name of an update gives the new name.
      arguments: [{ ...argument, flags: flags.filter((flag) => !own.includes(flag)) }],
      ...definitionOf(writer),
    };
  };
  return {
    list: { ...headings.list, ...list },
    read: {
      ...headings.read,
      definition: { ...definition({}), isPaged: true },
      async run(context, [given]) {
        const id = await identify(context, given!);
        return printRecord(context, (await noun.read(context.client, id)).value, print);
      },
    },
    ...(create && {
      create: {
        ...headings.create,
        definition: {
          ...(create.arguments && { arguments: create.arguments }),
          ...definitionOf(create),
        },
        async run(context, [given], options) {
          return printRecord(context, (await create.write(context, given, options)).value, print);
        },
      },
    }),
    ...(update && {
      update: {
        ...headings.update,
        definition: definition(update),
        async run(context, [given], options) {
          const id = await identify(context, given!);
          const { value: record } = await noun.read(context.client, id);
          const { value } = await update.write(context, { id, record }, options);
          return printRecord(context, value, print);
        },
      },
    }),
    delete: {
      ...headings.delete,
      definition: {
        ...definition(noun.delete),
        confirms: ([given]) => `Delete the ${withoutArticle(noun.one)} "${given}"?`,
      },
      async run(context, [given], options) {
        const id = await identify(context, given!);
        const { value } = await noun.delete.run(context.client, id, options);
        const word = withoutArticle(noun.one);
        const name = noun.delete.name?.(id) ?? id;
        return printDeleted(context, { word, name, wasThere: value, done: noun.delete.done?.(id) });
      },
    },
  };
}

function headingsOf({ words, one, many, verbs }: NounWords) {
  const heading = (verb: Verb, summary: string): CommandHeading => ({
    words: [...words, verbs?.[verb]?.word ?? verb],
    summary: verbs?.[verb]?.summary ?? summary,
  });
  return {
    list: heading('list', `List ${many}.`),
    read: heading('read', `Show ${one}.`),
    create: heading('create', `Create ${one}.`),
    update: heading('update', `Change ${one}.`),
    delete: heading('delete', `Delete ${one}.`),
  } satisfies Record<Verb, CommandHeading>;
}

const withoutArticle = (one: string): string => one.slice(one.indexOf(' ') + 1);

const definitionOf = ({ options, details }: Writer): CommandDefinition => ({
  ...(options && { options }),
  ...(details !== undefined && { details }),
});

/** Prints a record as JSON, or for a person. */
export async function printRecord<T>(
  context: Context,
  record: T,
  print: (context: Context, record: T) => Promise<void>,
): Promise<number> {
  return context.show(record, () => print(context, record));
}

interface Deletion {
  readonly word: string;
  readonly name: string;
  readonly wasThere: boolean;
  readonly done?: string | undefined;
}

/** @throws CliError if there was no such record */
export async function printDeleted(
  { screen, isJson, json }: Context,
  { word, name, wasThere, done = `The ${word} ${name} is deleted.` }: Deletion,
): Promise<number> {
  if (isJson) await json(wasThere);
  else if (wasThere) await screen.line(done);
  if (!wasThere) throw new CliError(`There is no ${word} ${name}.`);
  return exitCodes.ok;
}
