import type { ClientCommand } from '../definition.ts';
import { resolveNode } from '../nouns.ts';
import { plural } from '../render/text.ts';
import { nodeArgument } from './argument.ts';

export const nodePurge: ClientCommand = {
  words: ['node', 'purge'],
  summary: 'Delete a node at once.',
  definition: {
    confirms: ([node]) => `Delete the node "${node}"? Its allocations count as lost.`,
    arguments: [nodeArgument],
    details: `Deletes the node at once: its allocations count as lost and are replaced. To move them away
first, use "roster node drain".`,
  },
  async run(context, [given]) {
    const id = await resolveNode(context, given!);
    const { value } = await context.client.nodes.purge(id);
    return context.show(value, async () => {
      const jobs =
        value.EvalIDs.length === 0 ? '' : `, and ${plural(value.EvalIDs.length, 'job')} looked at`;
      await context.screen.line(`Node ${context.id(id)} is purged${jobs}.`);
    });
  },
};
