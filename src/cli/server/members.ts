import type { ClientCommand } from '../definition.ts';
import { printRecords } from '../list-command.ts';

export const serverMembers: ClientCommand = {
  words: ['server', 'members'],
  summary: 'List the servers of the cluster.',
  definition: {
    isPaged: true,
    details:
      'Shows the servers as the server that is asked knows them: which one leads, and how many transactions each is behind it.',
  },
  async run(context) {
    const { value } = await context.client.status.servers();
    return printRecords(context, value, {
      records: value,
      columns: {
        ID: ({ ID, Self }) => (Self ? `${ID} *` : ID),
        Address: ({ Address }) => Address,
        Status: ({ Status }) => Status,
        Leader: ({ Leader }) => (Leader ? 'yes' : 'no'),
        Behind: ({ Behind }) => (Behind === undefined ? '' : String(Behind)),
        Version: ({ Version }) => Version ?? '',
      },
    });
  },
};
