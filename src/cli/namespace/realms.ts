import type { Client } from '../../sdk/client.ts';
import { argument, description } from '../acl/links.ts';
import { deleted } from '../acl/resolve.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';

/** Namespaces and partitions are told alike. */
interface Realm {
  readonly Name: string;
  readonly Description: string;
  readonly Meta?: Readonly<Record<string, string>> | null;
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

async function print({ screen, isJson, json }: Context, realm: Realm): Promise<number> {
  if (isJson) await json(realm);
  else {
    await screen.fields([
      ['Name', oneLine(realm.Name)],
      ['Description', orDash(realm.Description)],
      ...Object.entries(realm.Meta ?? {}).map(
        ([name, value]) => [`Meta.${oneLine(name)}`, oneLine(value)] as const,
      ),
    ]);
  }
  return exitCodes.ok;
}

function labels(options: Options): { Meta?: Record<string, string> } {
  const given = options.list('meta');
  if (given.length === 0) return {};
  const pairs = given.filter(Boolean).map((text): [string, string] => {
    const at = text.indexOf('=');
    if (at < 1) throw new CliError(`--meta must be KEY=VALUE, got "${text}".`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return { Meta: Object.fromEntries(pairs) };
}

function commandsOf({ noun, of }: Kind) {
  const name = argument('NAME', `Name of the ${noun}.`, noun);
  const options = [description, ...(noun === 'namespace' ? [meta] : [])];
  const write = async (context: Context, given: string, before: object, parsed: Options) => {
    const text = parsed.text('description');
    const { value } = await of(context.client).write(given, {
      ...before,
      ...(text !== undefined && { Description: text }),
      ...labels(parsed),
    });
    return print(context, value);
  };
  const create: ClientCommand = {
    definition: { arguments: [{ ...name, kind: 'word' }], options },
    run: (context, [given], parsed) => write(context, given!, {}, parsed),
  };
  const update: ClientCommand = {
    definition: { arguments: [name], options, details: 'What is not given stays as it is.' },
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
