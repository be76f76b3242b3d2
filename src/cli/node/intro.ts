import type { ShownIntroduction } from '../../sdk/client.ts';
import { showSecret, tokenSink } from '../acl/show.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand, description } from '../definition.ts';
import { CliError } from '../errors.ts';
import { listCommand } from '../list-command.ts';
import { printDeleted } from '../noun-commands.ts';
import { oneLine, orDash } from '../render/text.ts';
import { resolveId, withPrefix } from '../resolve-id.ts';

const token = argument('ID', 'The introduction token, or 8 or more characters of its id.', 'word');

function resolveIntroduction({ client }: Context, given: string): Promise<string> {
  const noun = {
    word: 'introduction token',
    listedBy: 'roster node intro list',
    list: withPrefix(() => client.introductionTokens.list()),
    nameOf: ({ Description }: ShownIntroduction) => Description,
  };
  return resolveId(noun, given);
}

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CliError(`--uses must be a whole number from 0, got "${text}".`);
}

const usesOf = ({ Used, Uses }: ShownIntroduction): string =>
  Uses === 0 ? `${Used}` : `${Used} of ${Uses}`;

export const nodeIntroCreate: ClientCommand = {
  words: ['node', 'intro', 'create'],
  summary: 'Make a token that admits new nodes.',
  definition: {
    options: [
      { name: 'ttl', value: 'DURATION', description: 'Lifetime of the token: 1m to 720h (1h).' },
      {
        name: 'uses',
        value: 'NUMBER',
        description: 'How many nodes it admits (1); 0: no limit.',
      },
      {
        name: 'node-pool',
        value: 'POOL',
        completes: 'node-pool',
        description: 'Only nodes of this pool.',
      },
      {
        name: 'node-name',
        value: 'NAME',
        description: 'Only nodes with this name; * matches any text.',
      },
      description,
      tokenSink,
    ],
    details: `Examples:
  roster node intro create -node-name build-7 -token-sink-file build-7.token
  roster node intro create -ttl 30m -uses 20 -node-pool build -node-name 'build-*'

On the new machine: roster agent --servers … --introduction-token-file build-7.token`,
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
          ['Uses', value.Uses === 0 ? 'no limit' : String(value.Uses)],
          ['Pool', orDash(value.NodePool)],
          ['Name', orDash(value.NodeName)],
          ['Ends', value.ExpirationTime],
        ]);
      }
    });
  },
};

export const nodeIntroList = listCommand({
  words: ['node', 'intro', 'list'],
  summary: 'List the tokens that admit nodes.',
  request: 'GET /v1/node/introduction-tokens',
  empty: 'There is no introduction token.',
  columns: {
    ID: ({ ID }, { id }) => id(ID),
    Used: usesOf,
    Pool: ({ NodePool }) => orDash(NodePool),
    Name: ({ NodeName }) => orDash(NodeName),
    Ends: ({ ExpirationTime }) => ExpirationTime,
    Description: ({ Description }) => oneLine(Description),
  },
});

export const nodeIntroRevoke: ClientCommand = {
  words: ['node', 'intro', 'revoke'],
  summary: 'Revoke a token, so that it admits no more nodes.',
  definition: { arguments: [token], details: 'Nodes that it has admitted stay.' },
  async run(context, [given]) {
    const id = await resolveIntroduction(context, given!);
    const { value } = await context.client.introductionTokens.revoke(id);
    return printDeleted(context, { word: 'introduction token', name: id, wasThere: value });
  },
};
