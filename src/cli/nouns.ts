import { isMissing } from '../sdk/client.ts';
import type { Context } from './context.ts';
import { CliError, refusalOf } from './errors.ts';
import { cliLimits } from './limits.ts';
import { resolveId } from './resolve-id.ts';

export const resolveAllocation = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'allocation',
      listedBy: 'roster alloc status',
      list: (options) => client.allocations.list({ ...options, taskStates: false }),
      nameOf: ({ Name }) => Name,
    },
    given,
  );

export const resolveEvaluation = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'evaluation',
      listedBy: 'roster job status JOB',
      list: (options) => client.evaluations.list(options),
      nameOf: ({ JobID, Status }) => `${JobID} (${Status})`,
    },
    given,
  );

export const resolveDeployment = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'deployment',
      listedBy: 'roster deployment list',
      list: (options) => client.deployments.list(options),
      nameOf: ({ JobID, JobVersion, Status }) => `${JobID} version ${JobVersion} (${Status})`,
    },
    given,
  );

export const resolveNode = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'node',
      listedBy: 'roster node status',
      list: (options) => client.nodes.list(options),
      nameOf: ({ Name }) => Name,
      isNamed: true,
    },
    given,
  );

/** Reads a job. The error for a missing job suggests jobs whose ids begin with the given text. */
export async function withJob<T>(context: Context, id: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isMissing(error) || error.code !== 'job-not-found') throw error;
    const { value } = await context.client.jobs.list({
      prefix: id,
      perPage: cliLimits.error.idsMax,
    });
    const alike = value.map(({ ID }) => `"${ID}"`).join(', ');
    const hint =
      alike === ''
        ? '"roster job status" lists the jobs; --namespace looks elsewhere.'
        : `Did you mean ${alike}?`;
    throw new CliError(error.detail, { hint, refusal: refusalOf(error) });
  }
}
