import { noInstant } from '../../base/instant.ts';
import type { PresentedEvaluation } from '../../model/evaluation/present.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { printTable } from '../list-command.ts';
import { resolveEvaluation } from '../nouns.ts';
import { allocationColumns, printAllocationTable } from '../render/allocation-table.ts';
import { driversAsked, printPlacementFailures, reasonsOfDrivers } from '../render/placement.ts';
import { ago, oneLine, orDash } from '../render/text.ts';

export const evalStatus: ClientCommand = {
  words: ['eval', 'status'],
  summary: 'Show an evaluation and its placements.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'EVAL',
        kind: 'evaluation',
        isRequired: true,
        description: 'Id of the evaluation, or 8 or more characters of it.',
      },
    ],
    options: [verbose],
  },
  async run(context, [given]) {
    const id = await resolveEvaluation(context, given!);
    const { value: evaluation } = await context.client.evaluations.read(id, { related: true });
    const { value: allocations } = await context.client.evaluations.allocations(id);
    if (context.isJson) {
      await context.json({ Evaluation: evaluation, Allocations: allocations });
      return exitCodes.ok;
    }
    const { screen } = context;
    await printHead(context, evaluation);
    if (Object.keys(evaluation.FailedTGAllocs ?? {}).length > 0) {
      await screen.title('Not placed');
      await printPlacementFailures(screen, evaluation.FailedTGAllocs, {
        drivers: await driversAsked(context, evaluation),
        reasons: await reasonsOfDrivers(context, evaluation),
      });
    }
    const related = evaluation.RelatedEvals ?? [];
    if (related.length > 0) {
      await screen.title('Related evaluations');
      await printTable(context, related, {
        ID: ({ ID }, { id }) => id(ID),
        'Triggered by': ({ TriggeredBy }) => TriggeredBy,
        Status: ({ Status }) => screen.status(Status),
        Created: ({ CreateTime }, { nowMs }) => ago(CreateTime, nowMs),
      });
    }
    if (allocations.length > 0) {
      await screen.title('Allocations');
      const { Changed: _, ...columns } = allocationColumns;
      await printAllocationTable(context, allocations, columns);
    }
    return exitCodes.ok;
  },
};

async function printHead(
  { screen, id, nowMs }: Context,
  evaluation: PresentedEvaluation,
): Promise<void> {
  const { StatusDescription, WaitUntil } = evaluation;
  const because = StatusDescription ? ` (${oneLine(StatusDescription)})` : '';
  const optional = (name: string, text: string) => (text ? [[name, text] as const] : []);
  const queued = Object.entries(evaluation.QueuedAllocations ?? {})
    .filter(([, count]) => count > 0)
    .map(([group, count]) => `${oneLine(group)}: ${count}`);
  await screen.fields([
    ['ID', evaluation.ID],
    ['Job', orDash(evaluation.JobID)],
    ['Namespace', oneLine(evaluation.Namespace)],
    ['Type', evaluation.Type],
    ['Triggered by', evaluation.TriggeredBy],
    ['Status', screen.status(evaluation.Status) + because],
    ['Priority', String(evaluation.Priority)],
    ['Created', ago(evaluation.CreateTime, nowMs)],
    ...optional('Not before', WaitUntil === noInstant ? '' : WaitUntil),
    ...optional('Node', id(evaluation.NodeID ?? '')),
    ...optional('Deployment', id(evaluation.DeploymentID ?? '')),
    ...optional('After', id(evaluation.PreviousEval ?? '')),
    ...optional('Followed by', id(evaluation.NextEval ?? '')),
    ...optional('Rest waits in', id(evaluation.BlockedEval ?? '')),
    ...optional('Queued', queued.join(', ')),
  ]);
}
