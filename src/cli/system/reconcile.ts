import type { ClientCommand } from '../definition.ts';
import { plural } from '../render/text.ts';

export const systemReconcileSummaries: ClientCommand = {
  words: ['system', 'reconcile', 'summaries'],
  summary: 'Recount the allocations of every job.',
  definition: {
    details: 'Counts the allocations of each job again. Needs a management token.',
  },
  async run(context) {
    const { value } = await context.client.system.reconcileSummaries();
    return context.show(value, async () => {
      await context.screen.line(
        `${plural(value.Changed, 'summary was', 'summaries were')} wrong and set right.`,
      );
    });
  },
};
