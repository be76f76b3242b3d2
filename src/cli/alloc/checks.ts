import type { CheckResult } from '../../model/check-result/check-result.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { cliLimits } from '../limits.ts';
import { resolveAllocation } from '../nouns.ts';
import { oneLine, orDash, span } from '../render/text.ts';
import { allocationArgument } from './argument.ts';

export const allocChecks: ClientCommand = {
  words: ['alloc', 'checks'],
  summary: 'Show how the checks of an allocation fare.',
  definition: {
    arguments: [allocationArgument],
    options: [{ name: 'verbose', description: 'Show the whole result of each check.' }],
  },
  async run(context, [given]) {
    const { client, screen, isJson, isVerbose, nowMs } = context;
    const id = await resolveAllocation(context, given!);
    const { value } = await client.allocations.checks(id);
    const results = Object.values(value);
    if (isJson) {
      await context.json(value);
    } else if (results.length === 0) {
      await screen.line(`Allocation ${context.id(id)} has no checks that are done now.`);
    } else {
      await screen.table(
        ['Service', 'Task', 'Check', 'Mode', 'Status', 'Done', 'Output'],
        results.map((result) => [
          oneLine(result.Service),
          orDash(result.Task),
          oneLine(result.Check),
          result.Mode,
          screen.status(result.Status) + failuresOf(result),
          result.Timestamp === 0 ? '-' : `${span(nowMs - result.Timestamp * 1000)} ago`,
          outputOf(result, isVerbose),
        ]),
      );
    }
    return exitCodes.ok;
  },
};

const failuresOf = ({ Failures }: CheckResult): string => (Failures > 1 ? ` (${Failures}×)` : '');

function outputOf({ Output }: CheckResult, isVerbose: boolean): string {
  const line = oneLine(Output);
  if (line === '') return '-';
  return isVerbose || line.length <= cliLimits.check.outputLengthMax
    ? line
    : `${line.slice(0, cliLimits.check.outputLengthMax)}…`;
}
