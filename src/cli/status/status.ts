import { ApiError } from '../../sdk/client.ts';
import { allocStatus } from '../alloc/status.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { deploymentStatus } from '../deployment/status.ts';
import { CliError } from '../errors.ts';
import { evalStatus } from '../eval/status.ts';
import { jobStatus } from '../job/status.ts';
import { cliLimits } from '../limits.ts';
import { nodeStatus } from '../node/status.ts';
import { oneLine } from '../render/text.ts';
import { shortestId } from '../resolve-id.ts';

interface Match {
  readonly word: string;
  readonly id: string;
  readonly name: string;
  readonly command: ClientCommand;
}

export const status: ClientCommand = {
  words: ['status'],
  summary: 'Show a job, node, allocation, evaluation or deployment by its id.',
  definition: {
    arguments: [
      {
        name: 'ID',
        kind: 'job',
        isRequired: false,
        description:
          'Id of a job or the beginning of it, name of a node, or 8 or more characters of another id. Default: all jobs.',
      },
    ],
    options: [verbose],
    isPaged: true,
    details: `Shows the same as "job status", "node status", "alloc status", "eval status" or "deployment status".
If several fit, they are listed, and the exit code is 1.`,
  },
  async run(context, [given], options) {
    if (given === undefined) return jobStatus.run(context, [], options);
    const [only, ...others] = await matchesOf(context, given);
    if (only === undefined) {
      throw new CliError(
        `There is no job, node, allocation, evaluation or deployment "${oneLine(given)}".`,
        {
          hint: 'Ids other than those of jobs need 8 or more characters. --namespace looks elsewhere.',
        },
      );
    }
    if (others.length === 0) return only.command.run(context, [only.id], options);
    const all = [only, ...others];
    const { idsMax } = cliLimits.error;
    const faults = all
      .slice(0, idsMax)
      .map(({ word, id, name }) => `${word} ${id}  ${name}`.trimEnd());
    throw new CliError(`"${oneLine(given)}" fits ${all.length} records. Give more of the id:`, {
      faults: all.length > idsMax ? [...faults, '…'] : faults,
    });
  },
};

/** Everything that the text fits and the token may read. A job or node of just this name is the only match. */
async function matchesOf(context: Context, given: string): Promise<readonly Match[]> {
  const { client } = context;
  const jobs = await readable(client.jobs.list({ prefix: given }));
  const named = await readable(client.nodes.list({ filter: `Name == ${JSON.stringify(given)}` }));
  const matches: Match[] = [
    ...jobs.map(({ ID }) => ({ word: 'job', id: ID, name: '', command: jobStatus })),
    ...named.map(({ ID, Name }) => ({ word: 'node', id: ID, name: Name, command: nodeStatus })),
  ];
  const exact = matches.filter(({ id, name }) => id === given || name === given);
  if (exact.length > 0) return exact;
  if (!/^[0-9a-f-]+$/i.test(given) || given.length < shortestId) return matches;
  return [...matches, ...(await recordsWith(context, given.toLowerCase()))];
}

async function recordsWith({ client }: Context, prefix: string): Promise<readonly Match[]> {
  const [nodes, allocations, evaluations, deployments] = await Promise.all([
    readable(client.nodes.list({ prefix })),
    readable(client.allocations.list({ prefix, taskStates: false })),
    readable(client.evaluations.list({ prefix })),
    readable(client.deployments.list({ prefix })),
  ]);
  const found =
    (word: string, command: ClientCommand) => (record: { ID: string; name: string }) => ({
      word,
      id: record.ID,
      name: oneLine(record.name),
      command,
    });
  return [
    ...nodes.map(({ ID, Name }) => ({ ID, name: Name })).map(found('node', nodeStatus)),
    ...allocations
      .map(({ ID, Name }) => ({ ID, name: Name }))
      .map(found('allocation', allocStatus)),
    ...evaluations
      .map(({ ID, JobID }) => ({ ID, name: JobID }))
      .map(found('evaluation', evalStatus)),
    ...deployments
      .map(({ ID, JobID }) => ({ ID, name: JobID }))
      .map(found('deployment', deploymentStatus)),
  ];
}

/** The records; none if the token may not list them. */
async function readable<T>(
  answer: Promise<{ readonly value: readonly T[] }>,
): Promise<readonly T[]> {
  try {
    return (await answer).value;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'permission-denied') return [];
    throw error;
  }
}
