import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { ago } from '../render/text.ts';

export const serverHealth: ClientCommand = {
  words: ['server', 'health'],
  summary: 'Check the servers of the cluster.',
  definition: {
    isPaged: true,
    details: `Asks every server for its health: who leads and since when, how far each server is behind, whether it
reaches the log, and how its clock differs. Tells how many servers may fail. The exit code is 1 unless all
servers are healthy and one leads.`,
  },
  async run(context) {
    const { value } = await context.client.status.health();
    const code = value.Healthy ? exitCodes.ok : exitCodes.error;
    if (context.isJson) {
      await context.json(value);
      return code;
    }
    const { screen } = context;
    const leader = value.Servers.find(({ Leader }) => Leader);
    await screen.fields([
      ['Healthy', value.Healthy ? 'yes' : 'no'],
      ['Leader', leader === undefined ? 'none is known' : `${leader.ID} at ${leader.Address}`],
      ['Leads since', ago(value.LeaderSince, context.nowMs)],
      ['Servers that may fail', String(value.FailureTolerance)],
    ]);
    await screen.title('Servers');
    await screen.table(
      ['ID', 'Address', 'Healthy', 'Leader', 'Behind', 'Log', 'Clock', 'Version'],
      value.Servers.map((one) => [
        one.Self ? `${one.ID} *` : one.ID,
        one.Address,
        one.Healthy ? 'yes' : 'no',
        one.Leader ? 'yes' : 'no',
        one.Behind === undefined ? '' : `${one.Behind} (${one.BehindMs} ms)`,
        one.LogMs === undefined ? '' : `${one.LogMs} ms`,
        one.ClockSkewMs === undefined ? '' : `${one.ClockSkewMs} ms`,
        one.Version ?? '',
      ]),
    );
    for (const { ID, Faults, Warnings } of value.Servers) {
      for (const text of Faults) await screen.line(`${ID}: ${text}.`);
      for (const text of Warnings) await screen.line(`${ID}: warning: ${text}.`);
    }
    return code;
  },
};
