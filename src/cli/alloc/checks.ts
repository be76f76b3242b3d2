import type { CheckResult } from '../../model/check-result/check-result.ts';
import type { ClientCommand } from '../definition.ts';
import { cliLimits } from '../limits.ts';
import { printRecords } from '../list-command.ts';
import { resolveAllocation } from '../nouns.ts';
import { oneLine, orDash, span } from '../render/text.ts';
import { allocationArgument } from './argument.ts';

export const allocChecks: ClientCommand = {
  words: ['alloc', 'checks'],
  summary: 'Show the health checks of an allocation.',
  definition: {
    isPaged: true,
    arguments: [allocationArgument],
    options: [{ name: 'verbose', description: 'Show the whole result of each check.' }],
  },
  async run(context, [given]) {
    const id = await resolveAllocation(context, given!);
    const { value } = await context.client.allocations.checks(id);
    return printRecords(context, value, {
      records: Object.values(value),
      empty: `Allocation ${context.id(id)} has no checks that are done now.`,
      columns: {
        Service: ({ Service }) => oneLine(Service),
        Task: ({ Task }) => orDash(Task),
        Check: ({ Check }) => oneLine(Check),
        Mode: ({ Mode }) => Mode,
        Status: (result, { screen }) => screen.status(result.Status) + failuresOf(result),
        Done: ({ Timestamp }, { nowMs }) =>
          Timestamp === 0 ? '-' : `${span(nowMs - Timestamp * 1000)} ago`,
        Output: (result, { isVerbose }) => outputOf(result, isVerbose),
      },
    });
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
