import type { Client, Namespace, NamespaceWrite } from '../../sdk/client.ts';
import { isMissing } from '../../sdk/client.ts';
import { givenLinks, policyOption, replaces, roleOption } from '../acl/links.ts';
import { linkList } from '../acl/show.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand, description } from '../definition.ts';
import { CliError } from '../errors.ts';
import { nounList } from '../list-command.ts';
import { nounCommands } from '../noun-commands.ts';
import type { Options } from '../options.ts';
import { pairs } from '../pairs.ts';
import { oneLine, orDash } from '../render/text.ts';
import { capabilityFields, capabilityOptions, givenCapabilities } from './capabilities.ts';

/** The fields of a namespace or of a partition. */
interface ScopeFields {
  readonly Name: string;
  readonly Description: string;
  readonly Meta?: Readonly<Record<string, string>> | null;
  readonly Capabilities?: Namespace['Capabilities'];
  readonly ACLs?: Namespace['ACLs'];
}

interface Kind {
  readonly word: 'namespace' | 'partition';
  readonly request: 'GET /v1/namespaces' | 'GET /v1/partitions';
  readonly endpoints: (client: Client) => Client['namespaces'] | Client['partitions'];
}

const meta = {
  name: 'meta',
  value: 'KEY=VALUE',
  isRepeatable: true,
  description: 'A label; may be repeated.',
} as const;

/** Links that every token of a namespace has besides its own. */
const defaults = [
  { ...policyOption, description: 'A policy for every token in it; may be repeated.' },
  { ...roleOption, description: 'A role for every token in it; may be repeated.' },
];

const print = ({ screen }: Context, scope: ScopeFields): Promise<void> =>
  screen.fields([
    ['Name', oneLine(scope.Name)],
    ['Description', orDash(scope.Description)],
    ...Object.entries(scope.Meta ?? {}).map(
      ([name, value]) => [`Meta.${oneLine(name)}`, oneLine(value)] as const,
    ),
    ...capabilityFields(scope.Capabilities),
    ...(scope.ACLs
      ? ([
          ['Policies', linkList(scope.ACLs.PolicyDefaults)],
          ['Roles', linkList(scope.ACLs.RoleDefaults)],
        ] as const)
      : []),
  ]);

function labels(options: Options): { Meta?: Record<string, string> } {
  const given = options.list('meta');
  return given.length === 0 ? {} : { Meta: pairs('meta', given) };
}

function givenDefaults(
  options: Options,
  before: Partial<ScopeFields>,
): Pick<NamespaceWrite, 'ACLs'> {
  const { Policies, Roles } = givenLinks(options);
  if (Policies === undefined && Roles === undefined) return {};
  const PolicyDefaults = Policies ?? before.ACLs?.PolicyDefaults ?? [];
  const RoleDefaults = Roles ?? before.ACLs?.RoleDefaults ?? [];
  return { ACLs: { PolicyDefaults, RoleDefaults } };
}

function changed(before: Partial<ScopeFields>, options: Options): NamespaceWrite {
  const text = options.text('description');
  return {
    ...before,
    ...(text !== undefined && { Description: text }),
    ...labels(options),
    ...givenDefaults(options, before),
    ...givenCapabilities(options, before),
  };
}

async function isThere(
  scopes: Client['namespaces'] | Client['partitions'],
  name: string,
): Promise<boolean> {
  try {
    await scopes.read(name);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function commandsOf({ word, request, endpoints }: Kind) {
  const name = argument('NAME', `Name of the ${word}.`, word);
  const options = [
    description,
    ...(word === 'namespace' ? [meta, ...defaults, ...capabilityOptions] : []),
  ];
  /** The API has no create: a write replaces an existing record. */
  const requireNone = async ({ client }: Context, given: string) => {
    if (!(await isThere(endpoints(client), given))) return;
    const hint = `"roster ${word} update" changes it.`;
    throw new CliError(`The ${word} "${given}" exists already.`, { hint });
  };
  return nounCommands<ScopeFields>({
    words: [word],
    one: `a ${word}`,
    many: `the ${word}s`,
    argument: name,
    read: (client, given) => endpoints(client).read(given),
    print,
    list: nounList({
      request,
      columns: {
        Name: ({ Name }) => oneLine(Name),
        Description: ({ Description }) => orDash(Description),
      },
    }),
    create: {
      arguments: [{ ...name, kind: 'word', flags: ['name'] }],
      options,
      async write(context, given, parsed) {
        await requireNone(context, given!);
        return endpoints(context.client).write(given!, changed({}, parsed));
      },
    },
    update: {
      options,
      details: replaces,
      write: ({ client }, { id, record }, parsed) =>
        endpoints(client).write(id, changed(record, parsed)),
    },
    delete: {
      details: `Only an empty ${word} can be deleted.`,
      run: (client, given) => endpoints(client).delete(given),
    },
  });
}

export const namespaces = commandsOf({
  word: 'namespace',
  request: 'GET /v1/namespaces',
  endpoints: (client) => client.namespaces,
});

/** Like `create` and `update`, for scripts that do not know whether the namespace exists. */
export const namespaceApply: ClientCommand = {
  words: ['namespace', 'apply'],
  summary: 'Create a namespace, or change it.',
  definition: namespaces.update!.definition,
  async run(context, words, options) {
    const exists = await isThere(context.client.namespaces, words[0]!);
    return (exists ? namespaces.update! : namespaces.create!).run(context, words, options);
  },
};

export const partitions = commandsOf({
  word: 'partition',
  request: 'GET /v1/partitions',
  endpoints: (client) => client.partitions,
});
