/** The state of a node in one word, the worst news first, and its resources in words. */
import type { NodeTopology } from '../../../../src/model/node/topology.ts';
import type { BarPart } from '../../parts/Bar.svelte';
import { bytesText, numberText, percentText } from '../../parts/format.ts';
import { lookOf, type statusLooks } from '../../parts/status.ts';

export type NodeWord = keyof (typeof statusLooks)['node'];

type Stated = Pick<NodeTopology, 'Status' | 'Drain' | 'SchedulingEligibility'>;

export function nodeWordOf({ Status, Drain, SchedulingEligibility }: Stated): NodeWord {
  if (Status !== 'ready') return Status;
  if (Drain) return 'draining';
  return SchedulingEligibility === 'ineligible' ? 'ineligible' : 'ready';
}

/** The states of nodes, the worst first. */
export const nodeWords = [
  'down',
  'disconnected',
  'draining',
  'ineligible',
  'initializing',
  'ready',
] as const satisfies readonly NodeWord[];

export const nodeUrgencyOf = (node: Stated): number =>
  (nodeWords as readonly NodeWord[]).indexOf(nodeWordOf(node));

/** By the word of `nodeWordOf`, so that a list has as many nodes as are counted by it. */
export const nodeFilters = {
  all: undefined,
  ready: 'Status == ready and Drain == false and SchedulingEligibility == eligible',
  draining: 'Status == ready and Drain == true',
  ineligible: 'Status == ready and SchedulingEligibility == ineligible and Drain == false',
  disconnected: 'Status == disconnected',
  down: 'Status == down',
  initializing: 'Status == initializing',
} as const;

/** The fields by which the server sorts nodes, by the key of their column. */
export const nodeFields = [
  { key: 'name', field: 'Name' },
  { key: 'status', field: 'Status' },
  { key: 'datacenter', field: 'Datacenter' },
  { key: 'pool', field: 'NodePool' },
  { key: 'class', field: 'NodeClass' },
  { key: 'allocations', field: 'Allocations' },
  { key: 'cpu', field: 'CPU' },
  { key: 'memory', field: 'MemoryMB' },
] as const;

export const resources = ['CPU', 'MemoryMB', 'DiskMB'] as const;
export type Resource = (typeof resources)[number];
export const resourceTitles = {
  CPU: 'CPU',
  MemoryMB: 'Memory',
  DiskMB: 'Disk',
} as const satisfies Record<Resource, string>;

const mebibyte = 1024 ** 2;

export const amountText = (resource: Resource, amount: number): string =>
  resource === 'CPU' ? `${numberText(Math.round(amount))} MHz` : bytesText(amount * mebibyte);

/** The share of the whole, from 0 to 1 or above it; `undefined`: there is nothing to hold. */
export const shareOf = (part: number, whole: number): number | undefined =>
  whole > 0 ? part / whole : undefined;

/** Of an allocation of resources: the words for those who do not see the picture. */
export const heldWords = (
  resource: Resource,
  { Capacity, Allocated }: Pick<NodeTopology, 'Capacity' | 'Allocated'>,
): string =>
  `${resourceTitles[resource]}: ${amountText(resource, Allocated[resource])} of ${amountText(resource, Capacity[resource])} allocated, ${percentText(shareOf(Allocated[resource], Capacity[resource]))}`;

const statuses = ['running', 'pending', 'unknown', 'failed', 'lost', 'complete'] as const;

export function allocationPartsOf({
  Allocations,
}: Pick<NodeTopology, 'Allocations'>): readonly BarPart[] {
  return statuses.map((status) => {
    const { word, tone } = lookOf('allocation', status);
    return { word, tone, count: Allocations[status] ?? 0 };
  });
}

export const allocationCountOf = ({ Allocations }: Pick<NodeTopology, 'Allocations'>): number =>
  Object.values(Allocations).reduce((sum, count) => sum + count, 0);
