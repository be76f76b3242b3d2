import type { Client, Namespace, NamespaceWrite } from '../../sdk/client.ts';
import { isMissing } from '../../sdk/client.ts';
import {
  argument,
  description,
  givenLinks,
  policyOption,
  replaces,
  roleOption,
} from '../acl/links.ts';
import { deleted } from '../acl/resolve.ts';
import { linkList } from '../acl/show.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { pairs } from '../pairs.ts';
import { oneLine, orDash } from '../render/text.ts';
import { capabilityFields, capabilityOptions, givenCapabilities } from './capabilities.ts';

/** Namespaces and partitions are told alike. */
interface Realm {
  readonly Name: string;
  readonly Description: string;
  readonly Meta?: Readonly<Record<string, string>> | null;
  readonly Capabilities?: Namespace['Capabilities'];
  readonly ACLs?: Namespace['ACLs'];
}

interface Kind {
  readonly noun: 'namespace' | 'partition';
  readonly of: (client: Client) => Client['namespaces'] | Client['partitions'];
}

const kinds = {
  namespace: { noun: 'namespace', of: (client) => client.namespaces },
  partition: { noun: 'partition', of: (client) => client.partitions },
} as const satisfies Record<string, Kind>;

const meta = {
  name: 'meta',
  value: 'KEY=VALUE',
  isRepeatable: true,
  description: 'A label; may be repeated.',
} as const;

/** What every token of a namespace has besides its own links. */
const defaults = [
  { ...policyOption, description: 'A policy for every token in it; may be repeated.' },
  { ...roleOption, description: 'A role for every token in it; may be repeated.' },
];

async function print({ screen, isJson, json }: Context, realm: Realm): Promise<number> {
  if (isJson) await json(realm);
  else {
    await screen.fields([
      ['Name', oneLine(realm.Name)],
      ['Description', orDash(realm.Description)],
      ...Object.entries(realm.Meta ?? {}).map(
        ([name, value]) => [`Meta.${oneLine(name)}`, oneLine(value)] as const,
      ),
      ...capabilityFields(realm.Capabilities),
      ...(realm.ACLs
        ? ([
            ['Policies', linkList(realm.ACLs.PolicyDefaults)],
            ['Roles', linkList(realm.ACLs.RoleDefaults)],
          ] as const)
        : []),
    ]);
  }
  return exitCodes.ok;
}

function labels(options: Options): { Meta?: Record<string, string> } {
  const given = options.list('meta');
  return given.length === 0 ? {} : { Meta: pairs('meta', given) };
}

function givenDefaults(options: Options, before: Partial<Realm>): Pick<NamespaceWrite, 'ACLs'> {
  const { Policies, Roles } = givenLinks(options);
  if (Policies === undefined && Roles === undefined) return {};
  const PolicyDefaults = Policies ?? before.ACLs?.PolicyDefaults ?? [];
  const RoleDefaults = Roles ?? before.ACLs?.RoleDefaults ?? [];
  return { ACLs: { PolicyDefaults, RoleDefaults } };
}

function commandsOf({ noun, of }: Kind) {
  const name = argument('NAME', `Name of the ${noun}.`, noun);
  const options = [
    description,
    ...(noun === 'namespace' ? [meta, ...defaults, ...capabilityOptions] : []),
  ];
  const write = async (
    context: Context,
    given: string,
    before: Partial<Realm>,
    parsed: Options,
  ) => {
    const text = parsed.text('description');
    const { value } = await of(context.client).write(given, {
      ...before,
      ...(text !== undefined && { Description: text }),
      ...labels(parsed),
      ...givenDefaults(parsed, before),
      ...givenCapabilities(parsed, before),
    });
    return print(context, value);
  };
  /** The API writes over what is there; who says "create" does not mean that. */
  const requireNone = async ({ client }: Context, given: string) => {
    try {
      await of(client).read(given);
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    const hint = `"roster ${noun} update" changes it.`;
    throw new CliError(`The ${noun} "${given}" is there already.`, { hint });
  };
  const create: ClientCommand = {
    definition: { arguments: [{ ...name, kind: 'word' }], options },
    async run(context, [given], parsed) {
      await requireNone(context, given!);
      return write(context, given!, {}, parsed);
    },
  };
  const update: ClientCommand = {
    definition: { arguments: [name], options, details: replaces },
    run: async (context, [given], parsed) => {
      const { value: before } = await of(context.client).read(given!);
      return write(context, given!, before, parsed);
    },
  };
  const read: ClientCommand = {
    definition: { arguments: [name] },
    run: async (context, [given]) => print(context, (await of(context.client).read(given!)).value),
  };
  const remove: ClientCommand = {
    definition: { arguments: [name], details: `Only an empty ${noun} can be deleted.` },
    async run(context, [given]) {
      const { value } = await of(context.client).delete(given!);
      await deleted(context, noun, given!, value);
      return exitCodes.ok;
    },
  };
  const list: ClientCommand = {
    definition: {},
    async run({ client, screen, isJson, json }) {
      const { value } = await of(client).list();
      if (isJson) await json(value);
      else {
        await screen.table(
          ['Name', 'Description'],
          value.map(({ Name, Description }) => [oneLine(Name), orDash(Description)]),
        );
      }
      return exitCodes.ok;
    },
  };
  return { create, read, update, delete: remove, list };
}

export const namespaceCommands = commandsOf(kinds.namespace);
export const partitionCommands = commandsOf(kinds.partition);
