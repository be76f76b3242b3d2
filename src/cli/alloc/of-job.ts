import type { Context } from '../context.ts';
import type { OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import { resolveAllocation, withJob } from '../nouns.ts';
import type { Options } from '../options.ts';
import { oneLine } from '../render/text.ts';

export const jobOption: OptionDefinition = {
  name: 'job',
  description: 'The argument is a job: use its newest running allocation, otherwise its newest.',
};

/** The id of the allocation that the first word names by its id or, with `-job`, by its job. */
export async function namedAllocation(
  context: Context,
  given: string,
  options: Options,
): Promise<string> {
  if (!options.flag('job')) return resolveAllocation(context, given);
  const { value } = await withJob(context, given, () => context.client.jobs.allocations(given));
  const newestFirst = [...value].sort((left, right) => right.CreateIndex - left.CreateIndex);
  const best = newestFirst.find(({ ClientStatus }) => ClientStatus === 'running') ?? newestFirst[0];
  if (best === undefined) throw new CliError(`The job "${oneLine(given)}" has no allocations.`);
  return best.ID;
}
