import type { Context } from './context.ts';
import type { CliEnvironment } from './environment.ts';
import type { Options } from './options.ts';

/** The kind of an argument, for completion. */
export type ArgumentKind =
  | ('job' | 'allocation' | 'evaluation' | 'deployment' | 'node' | 'file' | 'word')
  /** Belongs to the job in the argument before it. */
  | ('group' | 'version')
  | ('token' | 'policy' | 'role' | 'namespace' | 'partition' | 'node-pool')
  | ('job-policy' | 'service' | 'peering' | 'server');

export interface ArgumentDefinition {
  /** In capitals. */
  readonly name: string;
  readonly kind: ArgumentKind;
  readonly isRequired: boolean;
  /** The last argument takes all remaining words, even words that look like options. */
  readonly isRest?: true;
  /** The last argument takes several words, and options may follow them. */
  readonly isSeveral?: true;
  readonly description: string;
  readonly choices?: readonly string[];
  /** The options that may give the value in place of the argument: `name` for `--name`. */
  readonly flags?: readonly string[];
}

export interface OptionDefinition {
  /** In kebab-case, without dashes. */
  readonly name: string;
  /** A letter for the short form. */
  readonly letter?: string;
  readonly description: string;
  /** Name of the value in the help; absent for a flag. */
  readonly value?: string;
  readonly isRepeatable?: true;
  readonly choices?: readonly string[];
  /** The kind of its value, for completion; the default is to complete `choices`. */
  readonly completes?: ArgumentKind;
  /** The value is a text that `@FILE`, or `-` for standard input, may give. */
  readonly isLongText?: true;
}

export interface CommandDefinition {
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options?: readonly OptionDefinition[];
  /** The usage after the options, if the list of arguments is not enough. */
  readonly usage?: string;
  /** Text after the list of options: explanations, examples, exit codes. */
  readonly details?: string;
  /** The exit code of an error, if 1 has another meaning. */
  readonly errorExitCode?: number;
  /** The question before something is lost, which a terminal asks; `undefined` if nothing is lost. */
  readonly confirms?: (words: readonly string[], options: Options) => string | undefined;
  /** Sends no token. */
  readonly isAnonymous?: true;
  /** The output ends by itself and may be long, so that a pager may show it. */
  readonly isPaged?: true;
}

/** The command in the list of commands, which `npm run docs` writes (`commands.generated.ts`). */
export interface CommandHeading {
  /** `['job', 'run']` */
  readonly words: readonly string[];
  readonly summary: string;
}

/** A command that talks to an agent. */
export interface ClientCommand extends CommandHeading {
  readonly definition: CommandDefinition;
  readonly run: (context: Context, words: readonly string[], options: Options) => Promise<number>;
}

/** A command that needs no agent. */
export interface LocalCommand extends CommandHeading {
  readonly definition: CommandDefinition;
  readonly runLocally: (
    environment: CliEnvironment,
    words: readonly string[],
    options: Options,
  ) => Promise<number>;
}

export type Command = ClientCommand | LocalCommand;

export const argument = (
  name: string,
  description: string,
  kind: ArgumentKind = 'word',
  isRequired = true,
): ArgumentDefinition => ({ name, kind, isRequired, description });

export const description: OptionDefinition = {
  name: 'description',
  value: 'TEXT',
  description: 'A description for people.',
};

export const verbose: OptionDefinition = {
  name: 'verbose',
  description: 'Show whole ids and more detail.',
};

/** The option `-filter` of lists. A command with its own example overrides the description. */
export const filterOption: OptionDefinition = {
  name: 'filter',
  value: 'EXPRESSION',
  description: 'Only records that match the expression.',
  isLongText: true,
};

export const detach: OptionDefinition = {
  name: 'detach',
  description: 'Return at once, without watching.',
};

/** Options of every command. */
export const globalOptions: readonly OptionDefinition[] = [
  {
    name: 'address',
    value: 'URL,URL',
    description: 'Addresses of servers (ROSTER_ADDR; http://127.0.0.1:4720).',
  },
  { name: 'token', value: 'SECRET', description: 'Secret of a token (ROSTER_TOKEN).' },
  {
    name: 'token-file',
    value: 'FILE',
    completes: 'file',
    description: 'File with the secret of a token; - is standard input (ROSTER_TOKEN_FILE).',
  },
  { name: 'namespace', value: 'NAME', description: 'Namespace (ROSTER_NAMESPACE; default).' },
  {
    name: 'partition',
    value: 'NAME',
    completes: 'partition',
    description: "Partition (ROSTER_PARTITION; the token's own).",
  },
  {
    name: 'ca-cert',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the certificate authority to trust (ROSTER_CACERT).',
  },
  {
    name: 'client-cert',
    value: 'FILE',
    completes: 'file',
    description: 'PEM to show to agents that check clients (ROSTER_CLIENT_CERT).',
  },
  {
    name: 'client-key',
    value: 'FILE',
    completes: 'file',
    description: 'PEM of the key of --client-cert (ROSTER_CLIENT_KEY).',
  },
  { name: 'json', description: 'Print JSON; errors too.' },
  {
    name: 'template',
    letter: 't',
    value: 'TEMPLATE',
    isLongText: true,
    description: 'Print the JSON answer by a template, or by that of @FILE.',
  },
  { name: 'yes', description: 'Do what a terminal would ask about.' },
  { name: 'no-color', description: 'Print without colours (NO_COLOR).' },
  { name: 'no-pager', description: 'Never show long output in a pager (ROSTER_PAGER, PAGER).' },
];

/** The options of a command, with those in place of its arguments. */
export function ownOptions({
  arguments: list = [],
  options = [],
}: CommandDefinition): readonly OptionDefinition[] {
  const names = new Set(options.map(({ name }) => name));
  const more = list.flatMap(({ name: value, kind, choices, flags = [] }) =>
    flags
      .filter((name) => !names.has(name))
      .map((name): OptionDefinition => {
        const description = `The same as ${value}.`;
        return { name, value, description, completes: kind, ...(choices && { choices }) };
      }),
  );
  return [...options, ...more];
}

/** The global options of a command, without the names and letters of its own options. */
export function globalOptionsBeside(
  definition: CommandDefinition = {},
): readonly OptionDefinition[] {
  const own = ownOptions(definition);
  const names = new Set(own.map(({ name }) => name));
  const letters = new Set(own.map(({ letter }) => letter));
  return globalOptions
    .filter(({ name }) => !names.has(name))
    .map(({ letter, ...option }) =>
      letter === undefined || letters.has(letter) ? option : { ...option, letter },
    );
}

/** The options of a command with the global options. */
export const everyOption = (definition: CommandDefinition = {}): readonly OptionDefinition[] => [
  ...globalOptionsBeside(definition),
  ...ownOptions(definition),
];
