import type { ClientCommand } from '../definition.ts';

export const leaderStepDown: ClientCommand = {
  words: ['operator', 'leader', 'step-down'],
  summary: 'Give the leadership to another server.',
  definition: {
    details: `The leader runs the writes that it has begun, and another server takes over at once. Requests wait
meanwhile, and none of them fails. A server that ends by a signal does the same.`,
  },
  async run(context) {
    const { value } = await context.client.leader.stepDown();
    return context.show(value, async () => {
      const { Leader } = value;
      await context.screen.line(Leader === '' ? 'No server leads yet.' : `${Leader} leads.`);
    });
  },
};
