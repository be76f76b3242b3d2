import type { ShownIntroduction } from '../../sdk/client.ts';
import { argument, description } from '../acl/links.ts';
import { deleted } from '../acl/resolve.ts';
import { showSecret, tokenSink } from '../acl/show.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { oneLine, orDash } from '../render/text.ts';
import { resolveId } from '../resolve-id.ts';

const token = argument('ID', 'The introduction token, or 8 or more characters of its id.', 'word');

const resolveIntroduction = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'introduction token',
      listedBy: 'roster node intro list',
      list: async ({ prefix = '' }) => {
        const answer = await client.introductionTokens.list();
        return { ...answer, value: answer.value.filter(({ ID }) => ID.startsWith(prefix)) };
      },
      nameOf: ({ Description }) => Description,
    },
    given,
  );

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CliError(`--uses must be a whole number from 0, got "${text}".`);
}

const usesOf = ({ Used, Uses }: ShownIntroduction): string =>
  Uses === 0 ? `${Used}` : `${Used} of ${Uses}`;

export const nodeIntroCreate: ClientCommand = {
  definition: {
    options: [
      { name: 'ttl', value: 'DURATION', description: 'How long it holds: 1m to 720h (1h).' },
      {
        name: 'uses',
        value: 'NUMBER',
        description: 'How many nodes it brings in (1); 0: as many as come.',
      },
      {
        name: 'node-pool',
        value: 'POOL',
        completes: 'node-pool',
        description: 'Only nodes of this pool.',
      },
      { name: 'node-name', value: 'NAME', description: 'Only nodes of this name; * is any text.' },
      description,
      tokenSink,
    ],
    details: `Examples:
  roster node intro create -node-name build-7 -token-sink-file build-7.token
  roster node intro create -ttl 30m -uses 20 -node-pool build -node-name 'build-*'

On the machine that joins: roster agent --servers … --introduction-token-file build-7.token`,
  },
  async run(context, _words, options) {
    const uses = options.text('uses');
    const { value } = await context.client.introductionTokens.create({
      Description: options.text('description') ?? '',
      NodePool: options.text('nodePool') ?? '',
      NodeName: options.text('nodeName') ?? '',
      ...(uses !== undefined && { Uses: countOf(uses) }),
      ...(options.text('ttl') !== undefined && { TTL: options.text('ttl') as never }),
    });
    const made = 'The token was made: keep the secret that is shown, or revoke the token.';
    const secret = { value: value.SecretID, made };
    return showSecret(context, options, secret, async (shown) => {
      if (context.isJson) await context.json(value);
      else {
        await context.screen.fields([
          ['ID', value.ID],
          ['Secret', shown],
          ['Uses', value.Uses === 0 ? 'as many as come' : String(value.Uses)],
          ['Pool', orDash(value.NodePool)],
          ['Name', orDash(value.NodeName)],
          ['Ends', value.ExpirationTime],
        ]);
      }
    });
  },
};

export const nodeIntroList: ClientCommand = {
  definition: {},
  async run({ client, screen, isJson, json, id }) {
    const { value } = await client.introductionTokens.list();
    if (isJson) await json(value);
    else if (value.length === 0) await screen.line('There is no introduction token.');
    else {
      await screen.table(
        ['ID', 'Used', 'Pool', 'Name', 'Ends', 'Description'],
        value.map((one) => [
          id(one.ID),
          usesOf(one),
          orDash(one.NodePool),
          orDash(one.NodeName),
          one.ExpirationTime,
          oneLine(one.Description),
        ]),
      );
    }
    return exitCodes.ok;
  },
};

export const nodeIntroRevoke: ClientCommand = {
  definition: { arguments: [token], details: 'Nodes that it has brought in stay.' },
  async run(context, [given]) {
    const id = await resolveIntroduction(context, given!);
    const { value } = await context.client.introductionTokens.revoke(id);
    await deleted(context, 'introduction token', id, value);
    return exitCodes.ok;
  },
};
