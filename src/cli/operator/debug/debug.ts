import { durationMs, parseDuration } from '../../../base/duration.ts';
import { secondMs } from '../../../base/units.ts';
import { ApiError } from '../../../sdk/client.ts';
import { logLevelIn, logLevelOption } from '../../agent/monitor.ts';
import type { Context } from '../../context.ts';
import type { ClientCommand } from '../../definition.ts';
import type { FileInProgress } from '../../environment.ts';
import { CliError, exitCodes } from '../../errors.ts';
import { cliLimits } from '../../limits.ts';
import { resolveNode } from '../../nouns.ts';
import { camelCase, type Options } from '../../options.ts';
import { bytesText } from '../../render/bytes.ts';
import { oneLine, plural } from '../../render/text.ts';
import { unreadableReason } from '../../unreadable.ts';
import { DebugArchive } from './archive.ts';
import { Capture, type DebugWish } from './capture.ts';

export const operatorDebug: ClientCommand = {
  words: ['operator', 'debug'],
  summary: 'Make an archive for the diagnosis of a cluster.',
  definition: {
    options: [
      {
        name: 'output',
        value: 'FILE',
        completes: 'file',
        description: 'Where to write it (roster-debug-TIME.tar.gz).',
      },
      { name: 'duration', value: 'DURATION', description: 'How long to observe (2m).' },
      { name: 'interval', value: 'DURATION', description: 'Time between two measurements (30s).' },
      { ...logLevelOption, description: 'The least level of the logs (debug).' },
      {
        name: 'server-id',
        value: 'ID,ID',
        completes: 'server',
        description: 'These servers: ids, leader, or none (all).',
      },
      {
        name: 'node-id',
        value: 'NODE,NODE',
        completes: 'node',
        description: `These nodes: ids or names, all, or none (all, and at most ${cliLimits.debug.nodesMax}).`,
      },
    ],
    details: `The archive has the logs of the time, metrics, health, a CPU profile and a heap profile of each agent, and its
configuration without secrets. It has no job, variable, token or policy. The file manifest.json lists what is in it, and
missing.json what could not be had. Ctrl-C ends the time early.

Needs agent:read, agent:write for profiles, node:read and operator:read; without one of them its part is missing.

Examples:
  roster operator debug
  roster operator debug -duration 10s -server-id leader -node-id none -output /tmp/leader.tar.gz`,
  },
  async run(context, _words, options) {
    const wish = await wishOf(context, options);
    return context.untilInterrupted(async (signal) => {
      const made = await make(context, options.text('output'), wish, signal);
      await context.show(made, () => tell(context, made));
      return signal.aborted ? exitCodes.interrupted : exitCodes.ok;
    });
  },
};

interface Made {
  readonly File: string;
  readonly Bytes: number;
  readonly Files: number;
  readonly Missing: DebugArchive['missing'];
}

async function tell({ screen }: Context, { File, Bytes, Files, Missing }: Made): Promise<void> {
  await screen.line(`${plural(Files, 'file is', 'files are')} in ${File} (${bytesText(Bytes)}).`);
  for (const { Name, Reason } of Missing) await screen.line(`Missing: ${Name}: ${Reason}`);
}

async function make(
  context: Context,
  output: string | undefined,
  wish: DebugWish,
  signal: AbortSignal,
): Promise<Made> {
  const { environment } = context;
  const begunMs = environment.clock.nowMs();
  const stamp = new Date(begunMs).toISOString().slice(0, 19).replaceAll(':', '');
  const directory = `roster-debug-${stamp}`;
  const path = output ?? `${directory}.tar.gz`;
  const file = await environment.beginFile(path).catch((error) => unwritable(path, error));
  try {
    const archive = await DebugArchive.begin({ file, directory, clock: environment.clock });
    await new Capture(context, archive, wish, signal).run();
    if (archive.members.length === 0 && !signal.aborted) {
      throw new CliError(`Nothing could be had: ${archive.missing[0]?.Reason}`);
    }
    await archive.addJson('missing.json', archive.missing);
    await archive.addJson('manifest.json', {
      Version: environment.build.version,
      Begin: new Date(begunMs).toISOString(),
      End: new Date(environment.clock.nowMs()).toISOString(),
      Interval: `${wish.intervalMs / secondMs}s`,
      LogLevel: wish.level,
      Servers: wish.servers,
      Nodes: wish.nodes,
      Files: archive.members,
    });
    await archive.finish();
    await file.finish();
    const { bytes, members, missing } = archive;
    return { File: path, Bytes: bytes, Files: members.length, Missing: missing };
  } catch (error) {
    return abandon(file, path, error);
  }
}

async function abandon(file: FileInProgress, path: string, error: unknown): Promise<never> {
  await file.discard();
  const isOfSystem = error instanceof Error && 'syscall' in error;
  if (isOfSystem) unwritable(path, error);
  throw error;
}

/** @throws CliError */
function unwritable(path: string, error: Error): never {
  throw new CliError(`"${path}" cannot be written: ${unreadableReason(error)}.`);
}

/** @throws CliError */
async function wishOf(context: Context, options: Options): Promise<DebugWish> {
  return {
    durationMs: durationOption(options, 'duration', '2m'),
    intervalMs: durationOption(options, 'interval', '30s'),
    level: logLevelIn(options) ?? 'debug',
    servers: await serversIn(context, listIn(options, 'serverId')),
    nodes: await nodesIn(context, listIn(options, 'nodeId')),
  };
}

/** Words with commas between them. */
const listIn = (options: Options, name: string): readonly string[] =>
  (options.text(name) ?? 'all')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '' && word !== 'none');

/** @throws CliError */
function durationOption(options: Options, name: string, standard: string): number {
  const text = options.text(camelCase(name)) ?? standard;
  const ms = durationMs(parseDuration(text) ?? Number.NaN);
  const { leastMs, mostMs } = cliLimits.debug;
  if (ms >= leastMs && ms <= mostMs) return ms;
  throw new CliError(
    `--${name} must be a duration from ${leastMs / secondMs}s to ${mostMs / secondMs}s, got "${oneLine(text)}".`,
  );
}

/** Turns a missing permission into `undefined`. */
function denied(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'permission-denied') return undefined;
  throw error;
}

/** The ids of the servers. @throws CliError */
async function serversIn(
  { client }: Context,
  words: readonly string[],
): Promise<readonly string[]> {
  if (words.length === 0) return [];
  const known = await client.status.servers().catch((error) => denied(error));
  // Without operator:read, only the server that is asked is known.
  if (known === undefined) return words.includes('all') ? [''] : words;
  const found = words.flatMap((word) => {
    if (word === 'all') return known.value;
    const named = known.value.filter(
      ({ ID, Address, Leader }) => ID === word || Address === word || (word === 'leader' && Leader),
    );
    if (named.length > 0) return named;
    throw new CliError(`There is no server "${oneLine(word)}".`, {
      hint: '"roster server members" lists them.',
    });
  });
  return [...new Set(found.map(({ ID }) => ID))];
}

/** The ids of the nodes. @throws CliError */
async function nodesIn(context: Context, words: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const word of words) {
    if (word !== 'all') {
      found.push(await resolveNode(context, word));
      continue;
    }
    const known = await context.client.nodes.list().catch((error) => denied(error));
    const up = (known?.value ?? []).filter(({ Status }) => Status !== 'down');
    found.push(...up.slice(0, cliLimits.debug.nodesMax).map(({ ID }) => ID));
  }
  return [...new Set(found)];
}
