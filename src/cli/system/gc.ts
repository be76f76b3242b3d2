import type { ClientCommand } from '../definition.ts';
import { plural } from '../render/text.ts';

export const systemGc: ClientCommand = {
  words: ['system', 'gc'],
  summary: 'Run garbage collection now.',
  definition: {
    details: `Collects garbage at once, without waiting for its age: dead jobs, evaluations, allocations
and deployments that nothing needs, nodes that are down. Needs a management token.`,
  },
  async run(context) {
    const { value } = await context.client.system.collectGarbage();
    return context.show(value, async () => {
      const counts = [
        plural(value.Jobs, 'job'),
        plural(value.Evaluations, 'evaluation'),
        plural(value.Allocations, 'allocation'),
        plural(value.Deployments, 'deployment'),
      ];
      await context.screen.line(
        `Deleted: ${counts.join(', ')} and ${plural(value.Nodes, 'node')}.`,
      );
    });
  },
};
