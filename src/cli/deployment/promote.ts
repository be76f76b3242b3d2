import type { Context } from '../context.ts';
import { type ClientCommand, detach, type OptionDefinition, verbose } from '../definition.ts';
import { resolveDeployment } from '../nouns.ts';
import type { Options } from '../options.ts';
import { deploymentArgument, printChange } from './act.ts';

export const promoteOptions: readonly OptionDefinition[] = [
  {
    name: 'group',
    value: 'NAME',
    isRepeatable: true,
    description: 'Only this group; may be repeated.',
  },
  detach,
  verbose,
];

export const promoteDetails =
  'All canaries that are wanted must be healthy. A promotion cannot be taken back.';

export const deploymentPromote: ClientCommand = {
  words: ['deployment', 'promote'],
  summary: 'Promote the canaries of a deployment.',
  definition: {
    arguments: [deploymentArgument],
    options: promoteOptions,
    details: promoteDetails,
  },
  async run(context, [given], options) {
    return promote(context, await resolveDeployment(context, given!), options);
  },
};

export async function promote(context: Context, id: string, options: Options): Promise<number> {
  const named = options.list('group');
  const groups = named.length === 0 ? undefined : named;
  const { value } = await context.client.deployments.promote(id, { groups });
  return printChange(context, { id, done: 'is promoted', changed: value }, options);
}
