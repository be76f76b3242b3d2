import type { Upgrade } from '../../model/cluster-version/cluster-version.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { ago, orDash } from '../render/text.ts';

export const upgradeStatus: ClientCommand = {
  words: ['operator', 'upgrade', 'status'],
  summary: 'Show the progress of an upgrade of the servers.',
  definition: {
    isPaged: true,
    details: `Servers are upgraded one by one. The leader writes each table in a version that all servers of the last 24
hours read, so an older program can still come back. Shows which tables wait for that, and for which servers.`,
  },
  async run(context) {
    return show(context, (await context.client.upgrade.read()).value);
  },
};

export const upgradeHold: ClientCommand = {
  words: ['operator', 'upgrade', 'hold'],
  summary: 'Hold the format of the state, so that the older program can return.',
  definition: {
    details:
      'No table is written in a newer version until the hold is released, or the upgrade is finalized.',
    options: [{ name: 'release', description: 'End the hold.' }],
  },
  async run(context, _words, options) {
    return show(context, (await context.client.upgrade.hold(!options.flag('release'))).value);
  },
};

export const upgradeFinalize: ClientCommand = {
  words: ['operator', 'upgrade', 'finalize'],
  summary: 'Write the newest format now. The older program cannot return.',
  definition: {
    confirms: () => 'Write the newest form? The older program cannot come back.',
    details: `Does not wait for servers that are not connected: with an older program they can no longer join. Ends a
hold.`,
  },
  async run(context) {
    return show(context, (await context.client.upgrade.finalize()).value);
  },
};

async function show(context: Context, upgrade: Upgrade): Promise<number> {
  if (context.isJson) {
    await context.json(upgrade);
    return exitCodes.ok;
  }
  const { screen, nowMs } = context;
  await screen.fields([
    ['Final', upgrade.Final ? 'yes' : 'no'],
    ['Hold', upgrade.Hold ? 'yes' : 'no'],
    ['Raised', ago(upgrade.RaisedAt, nowMs)],
  ]);
  if (upgrade.Pending.length > 0) {
    await screen.title('Tables that wait');
    await screen.table(
      ['Table', 'Written', 'Newest'],
      upgrade.Pending.map(({ Table, Written, Newest }) => [
        Table,
        Written === 0 ? '-' : String(Written),
        String(Newest),
      ]),
    );
  }
  await screen.title('Servers');
  await screen.table(
    ['ID', 'Address', 'Version', 'Connected', 'Seen', 'Lacks'],
    upgrade.Servers.map(({ ID, Address, Version, Connected, SeenAt, Lacks }) => [
      ID,
      Address,
      Version,
      Connected ? 'yes' : 'no',
      ago(SeenAt, nowMs),
      orDash(Lacks.join(', ')),
    ]),
  );
  return exitCodes.ok;
}
