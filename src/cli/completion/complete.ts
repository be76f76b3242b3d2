import type { Client } from '../../sdk/client.ts';
import { aliases, withoutAlias } from '../aliases.ts';
import { commands } from '../commands.generated.ts';
import { connect } from '../context.ts';
import {
  type ArgumentKind,
  everyOption,
  globalOptions,
  type OptionDefinition,
} from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { groups } from '../groups.ts';
import { cliLimits } from '../limits.ts';
import { camelCase } from '../options.ts';
import { optionsOf } from '../program.ts';
import { oneLine } from '../render/text.ts';
import { locate, normalizeWords, plainWords, takesNext } from '../words.ts';

interface Candidate {
  readonly word: string;
  readonly about?: string;
}

const files: Candidate = { word: ':file' };

/** Prints the candidates for the last word. Never fails. */
export async function runCompletion(
  words: readonly string[],
  environment: CliEnvironment,
): Promise<number> {
  const current = words.at(-1) ?? '';
  const before = normalizeWords(withoutAlias(words.slice(0, -1)));
  const candidates = await candidatesFor(before, current, environment).catch(() => []);
  const lines = candidates
    .filter(({ word }) => word === files.word || word.startsWith(current))
    .map(({ word, about }) => (about === undefined ? word : `${word}\t${oneLine(about)}`));
  await environment.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return 0;
}

async function candidatesFor(
  before: readonly string[],
  current: string,
  environment: CliEnvironment,
): Promise<readonly Candidate[]> {
  const { entry, group, plain } = locate(before);
  const command = await entry?.load();
  const options = everyOption(command?.definition);
  const last = before.at(-1) ?? '';
  const option = options.find((one) => takesNext(last, [one]));
  if (option !== undefined) {
    const { completes: kind = 'word', choices } = option;
    return valuesOf({ kind, choices }, { before, given: [], current }, environment);
  }
  if (current.startsWith('-')) return optionCandidates(options, current);
  if (entry !== undefined && command !== undefined) {
    const plainBefore = plainWords(before, options).map(({ word }) => word);
    const given = plainBefore.slice(entry.words.length);
    const argument = command.definition.arguments?.[given.length];
    if (argument === undefined) return given.length > 0 ? [] : wordsAfter(entry.words.join(' '));
    return valuesOf(argument, { before, given, current }, environment);
  }
  if (plain.length === 0) return firstWords();
  if (group === undefined || plain.length !== group.split(' ').length) return [];
  return wordsAfter(group);
}

function firstWords(): Candidate[] {
  const alone = commands.filter(({ words }) => words.length === 1);
  return [
    ...groupsIn(''),
    ...alone.map(({ words, summary }) => ({ word: words[0]!, about: summary })),
    ...shortForms,
    { word: 'help', about: 'Explain a command.' },
  ];
}

const shortForms: readonly Candidate[] = Object.entries(aliases)
  .filter(([name]) => !name.includes(' '))
  .map(([word, command]) => ({ word, about: `Short for "${command}".` }));

const wordsAfter = (group: string): Candidate[] => [
  ...groupsIn(group),
  ...commands
    .filter(({ words }) => words.slice(0, -1).join(' ') === group)
    .map(({ words, summary }) => ({ word: words.at(-1)!, about: summary })),
];

/** The groups directly below a group; `''` is the program itself. */
const groupsIn = (above: string): Candidate[] =>
  Object.entries(groups)
    .map(([name, about]) => ({ words: name.split(' '), about }))
    .filter(({ words }) => words.slice(0, -1).join(' ') === above)
    .map(({ words, about }) => ({ word: words.at(-1)!, about }));

/** The options, with as many dashes as were typed. */
function optionCandidates(options: readonly OptionDefinition[], current: string): Candidate[] {
  const dashes = current.startsWith('--') || current === '-' ? '--' : '-';
  return options.map(({ name, description }) => ({ word: `${dashes}${name}`, about: description }));
}

/** The words typed so far. */
interface Typed {
  readonly before: readonly string[];
  /** Arguments of the command, without its own words and options. */
  readonly given: readonly string[];
  readonly current: string;
}

/** Candidates for an argument, or for the value of an option. */
async function valuesOf(
  {
    kind,
    choices,
  }: { readonly kind: ArgumentKind; readonly choices?: readonly string[] | undefined },
  { before, given, current }: Typed,
  environment: CliEnvironment,
): Promise<readonly Candidate[]> {
  if (choices !== undefined) return choices.map((word) => ({ word }));
  if (kind === 'file') return [files];
  if (kind === 'word') return [];
  const client = await connect(environment, optionsOf(globalsIn(before)));
  const controller = new AbortController();
  const timer = environment.timers.after(cliLimits.completion.answerMs, () => controller.abort());
  try {
    return await idsOf[kind](client, current, controller.signal, given);
  } finally {
    timer.clear();
    await client.close();
  }
}

type Ids = (
  client: Client,
  prefix: string,
  signal: AbortSignal,
  given: readonly string[],
) => Promise<readonly Candidate[]>;

const page = (prefix: string, signal: AbortSignal) => ({
  prefix,
  signal,
  perPage: cliLimits.completion.idsMax,
});

/** Records that users refer to by name. */
const named =
  (
    list: (client: Client) => (options: ReturnType<typeof page>) => Promise<{
      readonly value: readonly { readonly Name: string; readonly Description: string }[];
    }>,
  ): Ids =>
  async (client, _prefix, signal) => {
    const { value } = await list(client)(page('', signal));
    return value.map(({ Name, Description }) => ({ word: Name, about: Description }));
  };

const idsOf: Readonly<Record<Exclude<ArgumentKind, 'file' | 'word'>, Ids>> = {
  policy: named((client) => client.acl.policies.list),
  role: named((client) => client.acl.roles.list),
  namespace: named((client) => client.namespaces.list),
  partition: named((client) => client.partitions.list),
  'node-pool': named((client) => client.nodePools.list),
  'job-policy': named((client) => client.jobPolicies.list),
  async service(client, _prefix, signal) {
    const { value } = await client.services.list({ signal, perPage: cliLimits.completion.idsMax });
    return value.flatMap(({ Services }) => Services.map(({ ServiceName: word }) => ({ word })));
  },
  async peering(client, _prefix, signal) {
    const { value } = await client.peerings.list({ signal, perPage: cliLimits.completion.idsMax });
    return value.map(({ Name, State }) => ({ word: Name, about: State }));
  },
  async server(client, _prefix, signal) {
    const { value } = await client.status.servers({ signal });
    const about = (Leader: boolean, Address: string) => (Leader ? `${Address} (leader)` : Address);
    return value.map(({ ID, Address, Leader }) => ({ word: ID, about: about(Leader, Address) }));
  },
  async token(client, prefix, signal) {
    const { value } = await client.acl.tokens.list(page(prefix, signal));
    return value.map(({ AccessorID, Description }) => ({ word: AccessorID, about: Description }));
  },
  async job(client, prefix, signal) {
    const { value } = await client.jobs.list(page(prefix, signal));
    return value.map(({ ID, Status }) => ({ word: ID, about: Status }));
  },
  async group(client, _prefix, signal, given) {
    const { value } = await client.jobs.read(given.at(-1)!, { signal });
    return value.TaskGroups.map(({ Name, Count }) => ({ word: Name, about: `count ${Count}` }));
  },
  async version(client, _prefix, signal, given) {
    const { value } = await client.jobs.versions(given.at(-1)!, { signal });
    const numbers = value.Versions.map(({ Version, VersionTag, Stable }) => ({
      word: String(Version),
      about: VersionTag?.Name ?? (Stable ? 'stable' : 'not stable'),
    }));
    const tags = value.Versions.flatMap(({ Version, VersionTag }) =>
      VersionTag === null ? [] : { word: VersionTag.Name, about: `version ${Version}` },
    );
    return [...numbers, ...tags];
  },
  async allocation(client, prefix, signal) {
    const { value } = await client.allocations.list({ ...page(prefix, signal), taskStates: false });
    return value.map(({ ID, Name, ClientStatus }) => ({
      word: ID,
      about: `${Name} (${ClientStatus})`,
    }));
  },
  async evaluation(client, prefix, signal) {
    const { value } = await client.evaluations.list(page(prefix, signal));
    return value.map(({ ID, JobID, Status }) => ({ word: ID, about: `${JobID} (${Status})` }));
  },
  async deployment(client, prefix, signal) {
    const { value } = await client.deployments.list(page(prefix, signal));
    return value.map(({ ID, JobID, Status }) => ({ word: ID, about: `${JobID} (${Status})` }));
  },
  async node(client, prefix, signal) {
    const { value } = await client.nodes.list(page(prefix, signal));
    return value.map(({ ID, Name, Status }) => ({ word: ID, about: `${Name} (${Status})` }));
  },
};

/** The typed global options, which select the server and the token. */
function globalsIn(before: readonly string[]): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { name, value } of globalOptions) {
    if (value === undefined) continue;
    const key = camelCase(name);
    const at = before.lastIndexOf(`--${name}`);
    if (at >= 0) found[key] = before[at + 1];
    const joined = before.findLast((word) => word.startsWith(`--${name}=`));
    if (joined !== undefined) found[key] = joined.slice(name.length + 3);
  }
  return found;
}
