import type { AllocationExplanation } from '../../model/explanation/explanation.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { resolveAllocation } from '../nouns.ts';
import { oneLine, orDash } from '../render/text.ts';
import { printVerdicts, score } from '../render/verdicts.ts';
import { allocationArgument } from './argument.ts';

export const allocWhy: ClientCommand = {
  words: ['alloc', 'why'],
  summary: 'Explain why an allocation is on its node.',
  definition: {
    isPaged: true,
    arguments: [allocationArgument],
    options: [verbose],
    details:
      'Every node has a verdict: open (with its score, part by part), exhausted (with what it lacks),\nfiltered (with the first rule that it fails) or excluded (no candidate at all).',
  },
  async run(context, [given]) {
    const id = await resolveAllocation(context, given!);
    const { value } = await context.client.explanations.why(id);
    return context.show(value, () => showExplanation(context, value));
  },
};

const bases: Readonly<Record<AllocationExplanation['Basis'], string>> = {
  decision: 'the state of the decision',
  now: 'the nodes as they are now',
  none: 'only the recorded facts',
};

const manners: Readonly<Record<AllocationExplanation['Manner'], string>> = {
  best: 'by its score',
  'previous-node': 'for the disk of the allocation that it replaces',
  'own-node': 'because the job wants something on every node',
  preemption: 'after others of lower priority made way',
};

async function showExplanation(context: Context, told: AllocationExplanation): Promise<void> {
  const { screen, id } = context;
  const { RunnerUp, Margin, Basis, Note } = told;
  await screen.fields([
    ['Allocation', told.AllocID],
    ['Name', oneLine(told.Name)],
    ['Job', `${oneLine(told.JobID)} (version ${told.JobVersion})`],
    ['Node', `${orDash(told.NodeName)} (${id(told.NodeID)})`],
    ['Judged on', `${bases[Basis]} (index ${told.SnapshotIndex})`],
    ['Chosen', `${manners[told.Manner]} (${told.Algorithm})`],
    ['Score', score(told.NormScore)],
    ...(told.Evicted.length === 0
      ? []
      : [['Made way', told.Evicted.map((one) => id(one)).join(', ')] as const]),
    ['Runner-up', RunnerUp === null ? 'none' : rivalText(context, RunnerUp, Margin)],
  ]);
  if (Note !== '') {
    await screen.line();
    await screen.line(oneLine(Note));
  }
  if (Basis !== 'none') {
    await screen.title('Nodes');
    await printVerdicts(context, told, told.NodeID);
  }
  if (Basis !== 'decision') await showRecorded(context, told);
}

function rivalText(
  { id }: Context,
  { NodeID, NodeName, NormScore }: NonNullable<AllocationExplanation['RunnerUp']>,
  margin: number | null,
): string {
  const name = NodeName === '' ? id(NodeID) : `${oneLine(NodeName)} (${id(NodeID)})`;
  if (margin === null) return `${name} with ${score(NormScore)}`;
  // The state has changed since the decision, so another node may be better now.
  const word = margin < 0 ? 'ahead' : 'behind';
  return `${name} with ${score(NormScore)}, ${score(Math.abs(margin))} ${word}`;
}

/** The best nodes that the decision recorded. */
async function showRecorded(
  { screen, id }: Context,
  { Recorded, NodeID }: AllocationExplanation,
): Promise<void> {
  if (Recorded === null) return;
  const best = Recorded.ScoreMetaData ?? [];
  await screen.title('Recorded with the decision, of the first that it placed of the group');
  await screen.fields([
    ['Nodes', String(Recorded.NodesEvaluated)],
    ['Filtered', String(Recorded.NodesFiltered)],
    ['Exhausted', String(Recorded.NodesExhausted)],
  ]);
  if (best.length === 0) return;
  const parts = [...new Set(best.flatMap(({ Scores }) => Object.keys(Scores)))];
  await screen.line();
  await screen.table(
    ['Node', 'Score', ...parts],
    best.map((one) => [
      `${id(one.NodeID)}${one.NodeID === NodeID ? ' (chosen)' : ''}`,
      score(one.NormScore),
      ...parts.map((part) => score(one.Scores[part])),
    ]),
  );
}
