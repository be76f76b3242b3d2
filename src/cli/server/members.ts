import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';

export const serverMembers: ClientCommand = {
  words: ['server', 'members'],
  summary: 'List the servers of the cluster.',
  definition: {
    details:
      'Shows the servers as the server that is asked knows them: which one leads, and how many transactions each is behind it.',
  },
  async run(context) {
    const { value } = await context.client.status.servers();
    if (context.isJson) await context.json(value);
    else {
      await context.screen.table(
        ['ID', 'Address', 'Status', 'Leader', 'Behind', 'Version'],
        value.map(({ ID, Address, Status, Leader, Self, Behind, Version }) => [
          Self ? `${ID} *` : ID,
          Address,
          Status,
          Leader ? 'yes' : 'no',
          Behind === undefined ? '' : String(Behind),
          Version ?? '',
        ]),
      );
    }
    return exitCodes.ok;
  },
};
