import { formatInstant, instantToMs } from '../../base/instant.ts';
import { RosterError } from '../../model/errors.ts';
import { type RestoreEffect, restoreEffect } from '../../model/snapshot/comparison.ts';
import {
  allocationState,
  contentsOf,
  jobState,
  type SnapshotContents,
} from '../../model/snapshot/contents.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError, exitCodes } from '../errors.ts';
import { cliLimits } from '../limits.ts';
import { bytesText } from '../render/bytes.ts';
import { unreadableReason } from '../unreadable.ts';

export const snapshotInspect: ClientCommand = {
  words: ['operator', 'snapshot', 'inspect'],
  summary: 'Check the file of a snapshot, and show its contents.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'FILE',
        kind: 'file',
        isRequired: true,
        description: 'The file of a snapshot; - is standard input.',
      },
    ],
    options: [
      {
        name: 'against',
        description: 'Ask the server, and show the effect of a restore on jobs and allocations.',
      },
    ],
    details: `Reads the whole file and checks it. Without -against no server is asked.`,
  },
  async run(context, [path], options) {
    const contents = await readSnapshot(context.environment, path!);
    const effect = options.flag('against') ? await effectOf(context, contents) : undefined;
    const { header, tables, checksum } = contents;
    if (context.isJson) {
      const contained = { ...header, Tables: tables, Checksum: checksum };
      await context.json(effect === undefined ? contained : { ...contained, Effect: effect });
      return exitCodes.ok;
    }
    await showContents(context, contents);
    if (effect !== undefined) await showEffect(context, effect);
    return exitCodes.ok;
  },
};

/** Reads and checks a whole file. @throws CliError naming the file */
export async function readSnapshot(
  { readPieces, stdin }: Pick<CliEnvironment, 'readPieces' | 'stdin'>,
  path: string,
): Promise<SnapshotContents> {
  try {
    return await contentsOf(path === '-' ? stdin.read() : readPieces(path));
  } catch (error) {
    if (error instanceof RosterError) throw new CliError(`"${path}": ${error.message}`);
    const reason = unreadableReason(error as NodeJS.ErrnoException);
    throw new CliError(`"${path}" cannot be read: ${reason}.`);
  }
}

async function showContents(
  { screen }: Context,
  { header, tables, checksum }: SnapshotContents,
): Promise<void> {
  await screen.fields([
    ['Index', String(header.Index)],
    ['Saved', formatInstant(instantToMs(header.CreateTime))],
    ['Cluster', header.ClusterID || '-'],
    ['Saved by', `roster ${header.Version}`],
    ['Format', String(header.Format)],
    ['Checksum', `${checksum} (right)`],
  ]);
  await screen.line();
  await screen.table(
    ['Table', 'Version', 'Rows', 'Size'],
    tables
      .filter(({ Rows }) => Rows > 0)
      .map(({ Name, Version, Rows, Bytes }) => [
        Name,
        String(Version),
        String(Rows),
        bytesText(Bytes),
      ]),
  );
}

/** The effect of a restore of the file on the jobs and allocations of the server. */
async function effectOf({ client }: Context, contents: SnapshotContents): Promise<RestoreEffect> {
  const jobs = await all((nextToken) =>
    client.jobs.list({ namespace: '*', perPage: cliLimits.snapshot.perPage, nextToken }),
  );
  const allocations = await all((nextToken) =>
    client.allocations.list({ namespace: '*', perPage: cliLimits.snapshot.perPage, nextToken }),
  );
  return restoreEffect(contents, {
    jobs: jobs.map(jobState),
    allocations: allocations.map(allocationState),
  });
}

async function all<T>(
  page: (
    nextToken: string | undefined,
  ) => Promise<{ readonly value: readonly T[]; readonly nextToken: string | undefined }>,
): Promise<readonly T[]> {
  const rows: T[] = [];
  for (let nextToken: string | undefined; ; ) {
    const { value, nextToken: next } = await page(nextToken);
    rows.push(...value);
    nextToken = next;
    if (nextToken === undefined) return rows;
  }
}

const sections: readonly (readonly [field: keyof RestoreEffect, title: string])[] = [
  ['JobsBack', 'Jobs that would run again'],
  ['JobsStopped', 'Jobs that would no longer run'],
  ['JobsChanged', 'Jobs that would run as registered at another time'],
  ['AllocationsBack', 'Allocations that would run again'],
  ['AllocationsStopped', 'Allocations that would be stopped'],
  ['AllocationsUnknown', 'Allocations that the snapshot does not know'],
];

async function showEffect(context: Context, effect: RestoreEffect): Promise<void> {
  const { screen } = context;
  const told = sections.filter(([field]) => effect[field].length > 0);
  if (told.length === 0) {
    await screen.line();
    await screen.line('A restore would change no job and no allocation.');
  }
  for (const [field, title] of told) {
    await screen.title(title);
    for (const one of effect[field]) {
      const name =
        'JobID' in one
          ? `${context.id(one.ID)} of ${jobText(one.Namespace, one.JobID)}`
          : jobText(one.Namespace, one.ID);
      await screen.line(`  ${name}`);
    }
  }
}

const jobText = (namespace: string, id: string): string =>
  namespace === 'default' ? id : `${id} (namespace ${namespace})`;
