import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { GroupProspect, JobProspect } from '../../model/explanation/explanation.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { resolveNode, withJob } from '../nouns.ts';
import { ago, oneLine } from '../render/text.ts';
import { printVerdicts } from '../render/verdicts.ts';
import { jobArgument } from './argument.ts';

export const jobWhyNot: ClientCommand = {
  words: ['job', 'why-not'],
  summary: 'Explain why allocations of a job are not placed.',
  definition: {
    isPaged: true,
    arguments: [
      jobArgument,
      {
        name: 'GROUP',
        kind: 'group',
        isRequired: false,
        description: 'Name of the group; by default the groups that lack an allocation.',
      },
      {
        name: 'NODE',
        kind: 'node',
        isRequired: false,
        description: 'Only this node: its id, 8 or more characters of it, or its name.',
      },
    ],
    options: [verbose],
    details:
      'Every node has a verdict: open (it would take one), exhausted (with what it lacks), filtered (with\nthe first rule that it fails), unasked (nothing more is wanted there) or excluded (no candidate).',
  },
  async run(context, [job, group, node]) {
    const nodeId = node === undefined ? undefined : await resolveNode(context, node);
    const { value } = await withJob(context, job!, () =>
      context.client.explanations.whyNot(job!, { group, node: nodeId }),
    );
    return context.show(value, () => showProspect(context, value));
  },
};

async function showProspect(context: Context, told: JobProspect): Promise<void> {
  const { screen } = context;
  if (told.Groups.length === 0) {
    const waits = `Nothing of the job "${oneLine(told.JobID)}" waits for a node.`;
    await screen.line(told.Note === '' ? waits : `${waits} ${oneLine(told.Note)}`);
  }
  for (const [position, group] of told.Groups.entries()) {
    if (position > 0) await screen.line();
    await showGroup(context, group);
  }
  if (told.Evaluations.length > 0) await showEvaluations(context, told.Evaluations);
}

async function showGroup(context: Context, group: GroupProspect): Promise<void> {
  const { screen } = context;
  await screen.line(screen.colors.bold(oneLine(group.Summary)));
  await screen.line();
  await printVerdicts(context, group);
}

async function showEvaluations(
  { screen, id, nowMs }: Context,
  evaluations: JobProspect['Evaluations'],
): Promise<void> {
  await screen.title('Evaluations that wait');
  await screen.table(
    ['ID', 'Status', 'Triggered by', 'Description', 'Node', 'Not before', 'Created'],
    evaluations.map((one) => [
      id(one.ID),
      screen.status(one.Status),
      one.TriggeredBy,
      oneLine(one.StatusDescription) || '-',
      one.NodeID === '' ? '-' : id(one.NodeID),
      one.WaitUntil === 0 ? '-' : formatInstant(instantToMs(one.WaitUntil)),
      ago(one.CreateTime, nowMs),
    ]),
  );
}
