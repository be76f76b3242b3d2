/**
 * Makes a sentence about why a group finds no node.
 * Source: docs/behaviour/scheduling.md#metrics-of-a-placement.
 */
import { limits } from '../../model/limits.ts';
import type { NodeExplanation } from './nodes.ts';

/** The name of a node; `undefined`: the reader may not see the node. */
export type Naming = (node: NodeExplanation) => string | undefined;

type Exhausted = NodeExplanation & { readonly verdict: 'exhausted' };

/** The sentence; `''`: some node is open. */
export function whyNoNode(nodes: readonly NodeExplanation[], naming: Naming): string {
  const of = <V extends NodeExplanation['verdict']>(verdict: V) =>
    nodes.filter((one): one is NodeExplanation & { verdict: V } => one.verdict === verdict);
  if (of('open').length > 0) return '';
  if (nodes.length === 0) return 'There is no node at all.';
  const [excluded, filtered, exhausted] = [of('excluded'), of('filtered'), of('exhausted')];
  const texts = (list: readonly { readonly text: string }[]) => tally(list.map(({ text }) => text));
  if (excluded.length === nodes.length) {
    return `None of the ${nodes.length} nodes is a candidate: ${texts(excluded)}.`;
  }
  if (exhausted.length === 0 && filtered.length === 0) return 'Nothing more of it is wanted.';
  const ruledOut = texts(filtered);
  if (exhausted.length === 0) return `Every candidate node is ruled out: ${ruledOut}.`;
  const short = `${needed(exhausted, naming) ?? lacking(exhausted)}.`;
  return filtered.length === 0 ? short : `${short} ${filtered.length} more ruled out: ${ruledOut}.`;
}

const units: Readonly<Record<string, readonly [unit: string, noun: string]>> = {
  cores: ['cores', ''],
  cpu: ['MHz', ' of CPU'],
  memory: ['MB', ' of memory'],
  disk: ['MB', ' of disk'],
};

/** If all nodes lack the same resource: the amount asked for, and the greatest amount free. */
function needed(exhausted: readonly Exhausted[], naming: Naming): string | undefined {
  for (const [dimension, [unit, noun]] of Object.entries(units)) {
    const found = exhausted.flatMap((node) => {
      const amount = node.lacks.find((lack) => lack.dimension === dimension)?.amount;
      return amount === undefined ? [] : [{ node, ...amount }];
    });
    if (found.length < exhausted.length) continue;
    const roomiest = found.reduce((best, one) => (one.free > best.free ? one : best));
    const asked = `It needs ${roomiest.asked} ${unit}${noun}`;
    const isTooMuch = found.every(({ asked: wanted, all }) => wanted > all);
    const never = isTooMuch ? '; none has so much even when it is empty' : '';
    const name = naming(roomiest.node);
    if (name === undefined) return `${asked}; no node has that left${never}`;
    return `${asked}; the largest free is ${roomiest.free} ${unit}, on node ${name}${never}`;
  }
  return undefined;
}

const lacking = (exhausted: readonly Exhausted[]): string =>
  `No node has all that it needs left: ${tally(exhausted.map(({ lacks }) => lacks[0]!.dimension))}`;

/** For example `missing drivers (2), cpu (1)`: the most frequent text first. */
function tally(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const told = [...counts]
    .sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1))
    .map(([text, count]) => `${text} (${count})`);
  // Texts may name objects of a node, so each node may have its own text.
  const { reasonsMax } = limits.explanation;
  const more = told.length > reasonsMax ? [`and ${told.length - reasonsMax} more`] : [];
  return [...told.slice(0, reasonsMax), ...more].join(', ');
}
