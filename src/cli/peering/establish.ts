import { type Peering, waitFor } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, detach } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { cliLimits } from '../limits.ts';
import type { Options } from '../options.ts';
import { pairs } from '../pairs.ts';
import { oneLine } from '../render/text.ts';
import { advice, metaOption, nameArgument } from './words.ts';

export const peeringEstablish: ClientCommand = {
  words: ['peering', 'establish'],
  summary: 'Connect to the cluster that made the peering token.',
  definition: {
    arguments: [nameArgument],
    options: [
      {
        name: 'peering-token',
        value: 'TOKEN',
        isLongText: true,
        description: 'The token of the other cluster, @FILE, or - for standard input.',
      },
      metaOption,
      detach,
    ],
    details: `Other users of the machine can see a command line, and it stays in the shell's history, so give
the token in a file or by standard input.

Examples:
  roster peering establish west -peering-token @token
  ROSTER_ADDR=http://west:4720 roster peering generate-token east |
    roster peering establish west -peering-token -`,
  },
  async run(context, [given], options) {
    const { client, isJson, json, screen, notes } = context;
    const name = given!;
    const meta = pairs('meta', options.list('meta'));
    const { partition } = context;
    await client.peerings.establish({
      PeerName: name,
      PeeringToken: tokenIn(options),
      Partition: partition,
      Meta: Object.keys(meta).length === 0 ? undefined : meta,
    });
    const told = isJson ? notes : screen;
    await told.line(`The peering "${oneLine(name)}" is established.`);
    const peering = options.flag('detach')
      ? undefined
      : await context.untilInterrupted((signal) => opened(context, name, partition, signal));
    if (peering !== undefined) {
      await told.line(`Its state is ${told.status(peering.State)}.`);
      const hint = advice(peering);
      if (hint !== undefined)
        await told.line(`${oneLine(peering.StreamStatus.LastError)}\n${hint}`);
    }
    if (isJson) await json(peering ?? {});
    return exitCodes.ok;
  },
};

function tokenIn(options: Options): string {
  const given = options.text('peeringToken');
  if (given !== undefined) return given.trim();
  throw new CliError('The token is missing.', { hint: 'Give it with -peering-token TOKEN.' });
}

/** The peering once its stream is open, or after the wait. */
async function opened(
  { client, environment }: Context,
  name: string,
  partition: string | undefined,
  signal: AbortSignal,
): Promise<Peering> {
  const late = new AbortController();
  const timer = environment.timers.after(cliLimits.peering.openingMs, () => late.abort());
  const over = AbortSignal.any([signal, late.signal]);
  try {
    return await waitFor(
      (options) => client.peerings.read(name, { ...options, partition }),
      ({ State }) => State === 'ACTIVE' || State === 'TERMINATED',
      { signal: over },
    );
  } catch (error) {
    if (!late.signal.aborted || signal.aborted) throw error;
    return (await client.peerings.read(name, { partition, signal })).value;
  } finally {
    timer.clear();
  }
}
