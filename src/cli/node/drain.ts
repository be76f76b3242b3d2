import { parseDuration } from '../../base/duration.ts';
import type { PlanRequest } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, detach, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { resolveNode } from '../nouns.ts';
import type { Options } from '../options.ts';
import { pairs } from '../pairs.ts';
import { makePlan, planOption } from '../plan/make.ts';
import { nodeArgument } from './argument.ts';
import { monitorDrain } from './drain-monitor.ts';

const deadlineDefault = '1h';

export const nodeDrain: ClientCommand = {
  words: ['node', 'drain'],
  summary: 'Move all allocations off a node, and watch.',
  definition: {
    arguments: [nodeArgument],
    options: [
      { name: 'enable', description: 'Move the allocations to other nodes, group by group.' },
      { name: 'disable', description: 'Cancel the drain; the node takes work again.' },
      { name: 'monitor', description: 'Only watch a drain that is under way.' },
      {
        name: 'deadline',
        value: 'DURATION',
        description: `When all remaining allocations are stopped at once (${deadlineDefault}).`,
      },
      { name: 'no-deadline', description: 'Wait without a limit.' },
      { name: 'force', description: 'Move everything at once, now.' },
      { name: 'ignore-system', description: 'Leave the allocations of system jobs on the node.' },
      {
        name: 'keep-ineligible',
        description: 'With -disable: the node still takes no work.',
      },
      {
        name: 'mark-eligible',
        description: 'With -enable: the node takes work again once it is empty.',
      },
      { name: 'message', letter: 'm', value: 'TEXT', description: 'The reason, for other people.' },
      {
        name: 'meta',
        value: 'KEY=VALUE',
        isRepeatable: true,
        description: 'A label of the drain; may be repeated.',
      },
      detach,
      planOption,
      verbose,
    ],
    details: `Examples:
  roster node drain -enable -m "new kernel" alpha
  roster node drain -enable -deadline 20m -ignore-system 8e6ec7a1
  roster node drain -disable alpha
  roster node drain -enable -plan alpha`,
  },
  async run(context, [given], options) {
    const wish = wishOf(options);
    const id = await resolveNode(context, given!);
    const log = context.isJson ? context.notes : context.screen;
    const { client } = context;
    if (wish === 'monitor') {
      const { value: node } = await client.nodes.read(id);
      if (node.Drain) return watchDrain(context, id);
      throw new CliError(`The node ${context.id(id)} is not draining.`);
    }
    const meta = metaOf(options);
    if (options.flag('plan')) return makePlan(context, plannedDrain(id, wish, options));
    if (wish === 'disable') {
      const { value: before } = await client.nodes.read(id);
      const markEligible = !options.flag('keepIneligible');
      const { value } = await client.nodes.cancelDrain(id, { markEligible, ...meta });
      await log.line(
        before.Drain
          ? `The drain of node ${context.id(id)} is canceled.`
          : `Node ${context.id(id)} was not draining${markEligible ? ' and is eligible for scheduling' : ''}.`,
      );
      if (context.isJson) await context.json(value);
      return exitCodes.ok;
    }
    const { value } = await client.nodes.drain(id, {
      deadline: deadlineOf(options),
      ignoreSystemJobs: options.flag('ignoreSystem'),
      markEligible: options.flag('markEligible'),
      ...meta,
    });
    await log.line(`Node ${context.id(id)} is being drained.`);
    if (!options.flag('detach')) await watchDrain(context, id);
    if (context.isJson) await context.json(value);
    return exitCodes.ok;
  },
};

function plannedDrain(NodeID: string, wish: 'enable' | 'disable', options: Options): PlanRequest {
  const { meta: Meta } = metaOf(options);
  if (wish === 'disable') {
    const MarkEligible = !options.flag('keepIneligible');
    return { Kind: 'drain', NodeID, DrainSpec: null, MarkEligible, Meta };
  }
  const Deadline = deadlineOf(options);
  const DrainSpec = { Deadline, IgnoreSystemJobs: options.flag('ignoreSystem') };
  return { Kind: 'drain', NodeID, DrainSpec, MarkEligible: options.flag('markEligible'), Meta };
}

function wishOf(options: Options): 'enable' | 'disable' | 'monitor' {
  const wishes = (['enable', 'disable', 'monitor'] as const).filter((name) => options.flag(name));
  if (wishes.length === 1) return wishes[0]!;
  // `-enable -monitor` is allowed, because `-enable` watches anyway.
  if (wishes.length === 2 && wishes[0] === 'enable' && wishes[1] === 'monitor') return 'enable';
  throw new CliError('Say what to do: one of -enable, -disable and -monitor.');
}

/** The deadline in nanoseconds; 0: none, negative: now. */
function deadlineOf(options: Options): number {
  const given = options.text('deadline');
  const ways = [given !== undefined, options.flag('noDeadline'), options.flag('force')];
  if (ways.filter(Boolean).length > 1) {
    throw new CliError('Only one of -deadline, -no-deadline and -force can be given.');
  }
  if (options.flag('force')) return -1;
  if (options.flag('noDeadline')) return 0;
  const nanoseconds = parseDuration(given ?? deadlineDefault) ?? 0;
  if (nanoseconds > 0) return nanoseconds;
  throw new CliError(`-deadline must be a duration such as 30m or 2h, got "${given}".`, {
    hint: '-no-deadline waits without a limit, -force moves everything at once.',
  });
}

function metaOf(options: Options): { meta?: Record<string, string> } {
  const message = options.text('message');
  const meta = { ...pairs('meta', options.list('meta')), ...(message && { message }) };
  return Object.keys(meta).length === 0 ? {} : { meta };
}

async function watchDrain(context: Context, id: string): Promise<number> {
  try {
    const node = await context.untilInterrupted((signal) => monitorDrain(context, id, signal));
    return node.LastDrain?.Status === 'complete' ? exitCodes.ok : exitCodes.error;
  } catch (error) {
    await context.notes.line('No longer watching; the drain goes on.');
    throw error;
  }
}
