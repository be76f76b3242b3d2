import type { Context } from './context.ts';
import type { CliEnvironment } from './environment.ts';
import type { Options } from './options.ts';

/** What stands for an argument, for completion and for the help. */
export type ArgumentKind =
  | ('job' | 'allocation' | 'evaluation' | 'deployment' | 'node' | 'file' | 'word')
  /** Of the job that stands before it. */
  | ('group' | 'version')
  | ('token' | 'policy' | 'role' | 'namespace' | 'partition' | 'node-pool')
  | ('job-policy' | 'service' | 'peering');

export interface ArgumentDefinition {
  /** In capitals, as the help shows it. */
  readonly name: string;
  readonly kind: ArgumentKind;
  readonly isRequired: boolean;
  /** The last one: it takes all words from here on, whatever they look like. */
  readonly isRest?: true;
  readonly description: string;
  readonly choices?: readonly string[];
}

export interface OptionDefinition {
  /** In kebab-case, without dashes. */
  readonly name: string;
  /** One letter that does the same. */
  readonly letter?: string;
  readonly description: string;
  /** What the option's value is called; absent for a flag. */
  readonly value?: string;
  readonly isRepeatable?: true;
  readonly choices?: readonly string[];
  /** What its value stands for; without it, only `choices` are completed. */
  readonly completes?: ArgumentKind;
}

export interface CommandDefinition {
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options?: readonly OptionDefinition[];
  /** Its words after the options, where the list of arguments does not tell it. */
  readonly usage?: string;
  /** After the list of options: more words, examples, exit codes. */
  readonly details?: string;
  /** Where it is not 1, as that says something else. */
  readonly errorExitCode?: number;
}

/** A command that talks to an agent. */
export interface ClientCommand {
  readonly definition: CommandDefinition;
  readonly run: (context: Context, words: readonly string[], options: Options) => Promise<number>;
}

/** A command that needs no agent. */
export interface LocalCommand {
  readonly definition: CommandDefinition;
  readonly runLocally: (
    environment: CliEnvironment,
    words: readonly string[],
    options: Options,
  ) => Promise<number>;
}

export type Command = ClientCommand | LocalCommand;

export const verbose: OptionDefinition = {
  name: 'verbose',
  description: 'Show whole ids and more detail.',
};

/** Of lists; a command with an example of its own says it instead. */
export const filterOption: OptionDefinition = {
  name: 'filter',
  value: 'EXPRESSION',
  description: 'Only those that it is true of.',
};

export const detach: OptionDefinition = {
  name: 'detach',
  description: 'Return at once instead of watching what follows.',
};

/** Options of every command. */
export const globalOptions: readonly OptionDefinition[] = [
  {
    name: 'address',
    value: 'URL',
    description: 'Address of an agent (ROSTER_ADDR; http://127.0.0.1:4720).',
  },
  { name: 'token', value: 'SECRET', description: 'Secret of a token (ROSTER_TOKEN).' },
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
  { name: 'json', description: 'Print JSON.' },
  { name: 'no-color', description: 'Print without colours (NO_COLOR).' },
];
