/** Who holds what of a node before an evaluation begins: what may be kept between evaluations. */
import type { AllocatedResources } from '../model/allocation/allocated-resources.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { occupiesNode } from '../model/allocation/allocation-rules.ts';
import { type Need, needOf } from './resources.ts';

export interface Holder {
  readonly resources: AllocatedResources;
  /** Id of the allocation that it replaces; `''` for none. */
  readonly previous: string;
}

/** Who holds what of a node before an evaluation begins. Never changes, so it can be kept. */
export interface Occupancy {
  readonly holders: ReadonlyMap<string, Holder>;
  /** Sum of their needs. */
  readonly used: Need;
}

export function occupancyOf(allocations: Iterable<Allocation>): Occupancy {
  const holders = new Map<string, Holder>();
  const used = { cpu: 0, memory: 0, disk: 0, cores: 0 };
  for (const allocation of allocations) {
    if (!occupiesNode(allocation)) continue;
    const { ID, AllocatedResources: resources, PreviousAllocation: previous } = allocation;
    holders.set(ID, { resources, previous });
    raise(used, needOf(resources));
  }
  return { holders, used };
}

/** The part of a view of the cluster that tells who is on a node. */
export interface OccupancyView {
  /** Every allocation that occupies the node, of all namespaces; finished ones may be left out. */
  allocationsOnNode(nodeId: string): Iterable<Allocation>;
  /** The same, summed up and perhaps kept from an earlier evaluation. */
  occupancyOf?(nodeId: string): Occupancy;
}

/** Kept by the view from an earlier evaluation, or summed up now. */
export const occupancyIn = (view: OccupancyView, nodeId: string): Occupancy =>
  view.occupancyOf?.(nodeId) ?? occupancyOf(view.allocationsOnNode(nodeId));

export type Sum = { -readonly [K in keyof Need]: Need[K] };

export function raise(sum: Sum, by: Need): void {
  sum.cpu += by.cpu;
  sum.memory += by.memory;
  sum.disk += by.disk;
  sum.cores += by.cores;
}
