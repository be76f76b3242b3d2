/** Turns findings of the scheduler into answers of the API. */
import {
  type NodeVerdict,
  type Verdict,
  type VerdictCounts,
  verdicts,
} from '../../model/explanation/explanation.ts';
import {
  byPreemption,
  byScore,
  type NodeExplanation,
  type WouldPreempt,
} from '../../scheduler/explain/nodes.ts';
import type { ClusterView } from '../../scheduler/view.ts';

/** The state that an explanation is based on, and what its caller may read. */
export interface Asking {
  readonly view: ClusterView;
  /** Whether the caller may read the node with this name. */
  readonly mayRead: (nodeName: string) => boolean;
}

type Nodes = readonly NodeExplanation[];

/** Presents the table of nodes. The caller knows of the node `ownId` in any case. */
export function presentNodes(
  nodes: Nodes,
  { mayRead }: Pick<Asking, 'mayRead'>,
  ownId = '',
): {
  readonly Counts: VerdictCounts;
  readonly Nodes: readonly NodeVerdict[];
  readonly NodesHidden: number;
} {
  const Counts = { open: 0, exhausted: 0, filtered: 0, unasked: 0, excluded: 0 };
  for (const { verdict } of nodes) Counts[verdict]++;
  const shown = inOrder(nodes).filter(
    ({ nodeId, nodeName }) => nodeId === ownId || mayRead(nodeName),
  );
  return { Counts, Nodes: shown.map(presentNode), NodesHidden: nodes.length - shown.length };
}

/**
 * Open nodes by score, then nodes where allocations could be evicted, then the others by verdict
 * and id.
 */
function inOrder(nodes: Nodes): Nodes {
  const preempting = byPreemption(nodes);
  const told = new Set<NodeExplanation>(preempting);
  const others = verdicts.filter((verdict): verdict is Exclude<Verdict, 'open'> => {
    return verdict !== 'open';
  });
  return [
    ...byScore(nodes),
    ...preempting,
    ...others.flatMap((verdict) =>
      nodes.filter((one) => one.verdict === verdict && !told.has(one)),
    ),
  ];
}

function presentNode(node: NodeExplanation): NodeVerdict {
  return {
    NodeID: node.nodeId,
    NodeName: node.nodeName,
    NodeClass: node.nodeClass,
    NodePool: node.nodePool,
    Datacenter: node.datacenter,
    Verdict: node.verdict,
    Rule: 'rule' in node ? node.rule : '',
    Reason: 'text' in node ? node.text : '',
    Lacks: node.verdict === 'exhausted' ? node.lacks.map(presentLack) : [],
    NormScore: node.verdict === 'open' ? node.score : null,
    Scores: node.verdict === 'open' ? { ...node.parts } : {},
    Preemption: node.verdict === 'exhausted' ? presentPreemption(node.preemption) : null,
  };
}

const presentPreemption = (way: WouldPreempt | undefined): NodeVerdict['Preemption'] =>
  way === undefined
    ? null
    : { Evicts: way.victims.length, NormScore: way.score, Scores: { ...way.parts } };

const presentLack = ({
  dimension,
  amount,
}: Extract<NodeExplanation, { verdict: 'exhausted' }>['lacks'][number]) => ({
  Dimension: dimension,
  Asked: amount?.asked ?? null,
  Free: amount?.free ?? null,
  Total: amount?.all ?? null,
});
