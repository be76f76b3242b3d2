import { type Peering, waitFor } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, detach } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { cliLimits } from '../limits.ts';
import { pairs } from '../pairs.ts';
import { oneLine } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { advice, metaOption, nameArgument, nameOption, peerName } from './words.ts';

export const peeringEstablish: ClientCommand = {
  words: ['peering', 'establish'],
  summary: 'Peer with the cluster that made the token.',
  definition: {
    arguments: [nameArgument],
    options: [
      nameOption,
      {
        name: 'peering-token',
        value: 'TOKEN',
        description: 'The token of the other cluster, @FILE, or - for standard input.',
      },
      metaOption,
      detach,
    ],
    details: `Other users of the machine can see a command line, and it stays in the shell's history, so give
the token in a file or by standard input.

Examples:
  roster peering establish -name west -peering-token @token
  ROSTER_ADDR=http://west:4720 roster peering generate-token -name east |
    roster peering establish -name west -peering-token -`,
  },
  async run(context, [word], options) {
    const { client, isJson, json, screen, notes } = context;
    const name = peerName(word, options);
    const meta = pairs('meta', options.list('meta'));
    const { partition } = context;
    await client.peerings.establish({
      PeerName: name,
      PeeringToken: await tokenOf(context, options.text('peeringToken')),
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

async function tokenOf(context: Context, given: string | undefined): Promise<string> {
  if (given === undefined) {
    throw new CliError('The token is missing.', { hint: 'Give it with -peering-token TOKEN.' });
  }
  const isFile = given === '-' || given.startsWith('@');
  if (!isFile) return given;
  return (await readText(context, given === '-' ? given : given.slice(1), 'token')).trim();
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
