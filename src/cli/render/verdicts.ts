import { constraintInWords } from '../../model/allocation/placement-words.ts';
import type { NodeVerdict, Verdict, VerdictCounts } from '../../model/explanation/explanation.ts';
import { verdicts } from '../../model/explanation/explanation.ts';
import { lackInWords } from '../../model/explanation/lack-words.ts';
import type { Context } from '../context.ts';
import { oneLine, orDash, plural } from './text.ts';

/** The number of rows that are shown without `-verbose`. */
const rowsShown = 20;

interface Verdicts {
  readonly Nodes: readonly NodeVerdict[];
  readonly Counts: VerdictCounts;
  readonly NodesHidden: number;
}

/** The table of nodes: the parts of each score, and the reason for each node without a score. */
export async function printVerdicts(
  { screen, id, isVerbose }: Context,
  { Nodes, Counts, NodesHidden }: Verdicts,
  /** The node of the explained allocation. */
  chosenId = '',
): Promise<void> {
  const shown = isVerbose ? Nodes : Nodes.slice(0, rowsShown);
  const parts = [...new Set(shown.flatMap((node) => Object.keys(scoresOf(node).Scores)))];
  const hasScores = parts.length > 0;
  const hasReasons = shown.some(({ Verdict }) => Verdict !== 'open');
  if (shown.length > 0) {
    await screen.table(
      [
        'Node',
        'ID',
        'Verdict',
        ...(hasScores ? ['Score', ...parts] : []),
        ...(hasReasons ? ['Reason'] : []),
      ],
      shown.map((node) => [
        orDash(node.NodeName),
        id(node.NodeID),
        node.NodeID === chosenId && scoresOf(node).NormScore !== null ? 'chosen' : node.Verdict,
        ...(hasScores ? scoreCells(node, parts) : []),
        ...(hasReasons ? [reasonOf(node)] : []),
      ]),
    );
  }
  if (shown.length < Nodes.length) {
    const left = plural(Nodes.length - shown.length, 'more node');
    await screen.line(`… and ${left}; -verbose shows all.`);
  }
  await screen.line(totals(Counts, NodesHidden));
}

const meanings: Readonly<Record<Verdict, string>> = {
  open: 'could take it',
  exhausted: 'lacks room',
  filtered: 'fails a rule',
  unasked: 'nothing more is wanted there',
  excluded: 'no candidate',
};

/** `Of 3 nodes: 2 open (could take it), 1 exhausted (lacks room)`, and how many of them are not shown. */
function totals(counts: VerdictCounts, hidden: number): string {
  const present = verdicts.filter((verdict) => counts[verdict] > 0);
  if (present.length === 0) return 'There are no nodes.';
  const all = present.reduce((total, verdict) => total + counts[verdict], 0);
  const parts = present.map((verdict) => `${counts[verdict]} ${verdict} (${meanings[verdict]})`);
  const kept =
    hidden === 0 ? '' : ` (${plural(hidden, 'node')} among them that your token may not read)`;
  return `Of ${plural(all, 'node')}: ${parts.join(', ')}${kept}`;
}

export const score = (value: number | null | undefined): string =>
  value === null || value === undefined ? '-' : value.toFixed(4);

/** The node's score, or its score after preemption. */
const scoresOf = (node: NodeVerdict): Pick<NodeVerdict, 'NormScore' | 'Scores'> =>
  node.Preemption ?? node;

const scoreCells = (node: NodeVerdict, parts: readonly string[]): readonly string[] => {
  const { NormScore, Scores } = scoresOf(node);
  return [score(NormScore), ...parts.map((part) => score(Scores[part]))];
};

function reasonOf({ Verdict, Reason, Lacks, Preemption }: NodeVerdict): string {
  if (Lacks.length > 0) {
    const lacks = Lacks.map(lackInWords).join('; ');
    if (Preemption === null) return lacks;
    return `${lacks}; ${plural(Preemption.Evicts, 'allocation')} of lower priority could make way`;
  }
  return Verdict === 'filtered' ? constraintInWords(Reason) : oneLine(Reason);
}
