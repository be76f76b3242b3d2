import { everyNamespace } from '../../model/namespace/namespace.ts';
import type { Overview } from '../../model/overview/overview.ts';
import type { ClientCommand } from '../definition.ts';
import { cpuText, diskText, memoryText } from '../render/amounts.ts';
import { oneLine } from '../render/text.ts';

export const overview: ClientCommand = {
  words: ['overview'],
  summary: 'Count jobs, allocations and nodes by their status, and sum up what nodes offer.',
  definition: {
    details: `It counts all namespaces, unless --namespace names one, and what your token may read. Nodes that are down
offer nothing. "roster attention" lists what needs attention.

Examples:
  roster overview
  roster overview --namespace shop --json`,
  },
  async run(context) {
    const { client, screen, namespace = everyNamespace } = context;
    const { value } = await client.attention.overview({ namespace });
    return context.show(value, () => screen.fields(fieldsOf(value)));
  },
};

const fieldsOf = ({ Jobs, Allocations, Nodes, Allocated, Capacity }: Overview) =>
  [
    ['Jobs', countsText(Jobs)],
    ['Allocations', countsText(Allocations)],
    ['Nodes', countsText(Nodes)],
    ['CPU', cpuText(Allocated, Capacity)],
    ['Memory', memoryText(Allocated, Capacity)],
    ['Disk', diskText(Allocated, Capacity)],
  ] as const;

/** `7: 5 running, 2 dead`, the most first. */
function countsText(counts: Readonly<Record<string, number>>): string {
  const rows = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([word, count], [other, more]) => more - count || (word < other ? -1 : 1));
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return '0';
  return `${total}: ${rows.map(([word, count]) => `${count} ${oneLine(word)}`).join(', ')}`;
}
