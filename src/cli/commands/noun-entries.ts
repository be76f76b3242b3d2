import type { CommandEntry } from '../command-entry.ts';
import type { NounCommands, Verb } from '../noun-commands.ts';

interface NounEntries {
  /** The words before the verb: `['acl', 'role']`. */
  readonly words: readonly string[];
  /** `a role` */
  readonly one: string;
  /** `the roles` */
  readonly many: string;
  readonly load: () => Promise<NounCommands>;
}

const everyVerb: readonly Verb[] = ['create', 'read', 'update', 'delete', 'list'];

/** The entries of a noun's commands, in the order of the help. */
export const nounEntries = (
  { words, one, many, load }: NounEntries,
  verbs: readonly Verb[] = everyVerb,
): readonly CommandEntry[] => {
  const summaries: Readonly<Record<Verb, string>> = {
    create: `Create ${one}.`,
    read: `Show ${one}.`,
    update: `Change ${one}.`,
    delete: `Delete ${one}.`,
    list: `List ${many}.`,
  };
  return verbs.map((verb) => nounEntry([...words, verb], summaries[verb], load, verb));
};

/** An entry with its own words and summary. */
export const nounEntry = (
  words: readonly string[],
  summary: string,
  load: () => Promise<NounCommands>,
  verb: Verb,
): CommandEntry => ({ words, summary, load: async () => (await load())[verb]! });
