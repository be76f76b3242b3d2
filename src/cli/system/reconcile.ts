import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { plural } from '../render/text.ts';

export const systemReconcileSummaries: ClientCommand = {
  definition: {
    details: 'Counts anew how many allocations of each job run. Needs a management token.',
  },
  async run(context) {
    const { value } = await context.client.system.reconcileSummaries();
    if (context.isJson) await context.json(value);
    else {
      await context.screen.line(
        `${plural(value.Changed, 'summary was', 'summaries were')} wrong and set right.`,
      );
    }
    return exitCodes.ok;
  },
};
