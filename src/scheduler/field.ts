/**
 * The candidate nodes of one group: each with its room, its fit and its score, kept up to date as
 * placements come and go. Source: DESIGN §6, facts/scheduler.md §6.5.
 *
 * 1. A slot is a node that passes every rule of the table; slots ascend by node id.
 * 2. `#fits[i]`, `#sums[i]` and `#terms[i]` are what computing slot i from scratch would give:
 *    whatever changes a node's room or presence calls `placed`, `removed` or `refresh`.
 * 3. Sums hold the parts that depend on the node alone; penalty and spread are added at the scan,
 *    in the order of the parts, so the score equals that of `parts` to the last bit.
 * 4. `best` is the greatest score, of equal ones the lower node id. It looks at every slot.
 */
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { DistinctColumn, distinctRules } from './distinct.ts';
import type { JobPresence } from './presence.ts';
import { type Ask, askOf } from './resources.ts';
import type { Fit, NodeRoom } from './room.ts';
import {
  type AffinityScorer,
  affinityScorer,
  antiAffinityScore,
  packScore,
  reschedulePenalty,
  type ScoreParts,
} from './score.ts';
import { type SpreadColumn, spreadColumns } from './spread.ts';
import type { SchedulerConfiguration } from './view.ts';

export interface FieldInput {
  readonly job: Job;
  readonly group: TaskGroup;
  /** Those that pass the rule table, ascending by id. */
  readonly nodes: readonly Node[];
  readonly presence: JobPresence;
  readonly configuration: SchedulerConfiguration;
  readonly roomOf: (node: Node) => NodeRoom;
}

const nobody: ReadonlySet<string> = new Set();

export class Field {
  readonly ask: Ask;
  readonly nodes: readonly Node[];
  readonly #group: TaskGroup;
  readonly #algorithm: SchedulerConfiguration['algorithm'];
  readonly #rooms: readonly NodeRoom[];
  readonly #slotOf = new Map<string, number>();
  readonly #neighbours: Map<string, number>;
  readonly #affinity: AffinityScorer | undefined;
  readonly #distinct: readonly DistinctColumn[];
  readonly #spreads: readonly SpreadColumn[];
  readonly #fits: Fit[] = [];
  readonly #sums: Float64Array;
  readonly #terms: Uint8Array;

  constructor({ job, group, nodes, presence, configuration, roomOf }: FieldInput) {
    this.ask = askOf(group);
    this.nodes = nodes;
    this.#group = group;
    this.#algorithm = configuration.algorithm;
    this.#rooms = nodes.map(roomOf);
    this.#neighbours = presence.byNode(group.Name);
    this.#affinity = affinityScorer(job, group);
    this.#distinct = distinctRules(job, group).map(
      (rule) => new DistinctColumn(rule, nodes, presence),
    );
    this.#spreads = spreadColumns(job, group, nodes, presence);
    this.#sums = new Float64Array(nodes.length);
    this.#terms = new Uint8Array(nodes.length);
    for (const [slot, node] of nodes.entries()) {
      this.#slotOf.set(node.ID, slot);
      this.#compute(slot);
    }
  }

  slotOf(nodeId: string): number {
    return this.#slotOf.get(nodeId) ?? -1;
  }

  roomAt(slot: number): NodeRoom {
    return this.#rooms[slot]!;
  }

  fitAt(slot: number): Fit {
    return this.#fits[slot]!;
  }

  /** The first distinct rule that keeps the group off the slot. */
  distinctAt(slot: number): DistinctColumn | undefined {
    return this.#distinct.find((column) => !column.allows(slot));
  }

  isOpen(slot: number): boolean {
    if (!this.#fits[slot]!.fits) return false;
    for (const column of this.#distinct) if (!column.allows(slot)) return false;
    return true;
  }

  /** The slot to place on; -1 when none is open. Nodes in `penalized` hosted a failed one. */
  best(penalized: ReadonlySet<string> = nobody): number {
    let best = -1;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (let slot = 0; slot < this.nodes.length; slot++) {
      if (!this.isOpen(slot)) continue;
      const score = this.scoreAt(slot, penalized);
      if (score > bestScore) {
        best = slot;
        bestScore = score;
      }
    }
    return best;
  }

  scoreAt(slot: number, penalized: ReadonlySet<string> = nobody): number {
    let sum = this.#sums[slot]!;
    let terms = this.#terms[slot]!;
    if (penalized.size > 0 && penalized.has(this.nodes[slot]!.ID)) {
      sum += reschedulePenalty;
      terms++;
    }
    const spread = this.#spreadAt(slot);
    if (spread !== 0) {
      sum += spread;
      terms++;
    }
    return sum / terms;
  }

  /** The parts of the score of a slot that fits. */
  partsAt(slot: number, penalized: ReadonlySet<string> = nobody): ScoreParts {
    const node = this.nodes[slot]!;
    const neighbours = this.#neighbours.get(node.ID) ?? 0;
    const spread = this.#spreadAt(slot);
    return {
      binpack: this.#pack(slot),
      ...(neighbours > 0
        ? { 'job-anti-affinity': antiAffinityScore(neighbours, this.#group.Count) }
        : {}),
      ...(this.#affinity !== undefined ? { 'node-affinity': this.#affinity(node) } : {}),
      ...(penalized.has(node.ID) ? { 'node-reschedule-penalty': reschedulePenalty } : {}),
      ...(spread !== 0 ? { 'allocation-spread': spread } : {}),
    };
  }

  /** An allocation of this group came to the node; its room knows already. */
  placed(node: Node): void {
    this.#change(node, 1);
  }

  /** An allocation of this group left the node; its room knows already. */
  removed(node: Node): void {
    this.#change(node, -1);
  }

  /** The node's room changed, and who is there did not. */
  refresh(node: Node): void {
    const slot = this.slotOf(node.ID);
    if (slot >= 0) this.#compute(slot);
  }

  #change(node: Node, by: 1 | -1): void {
    this.#neighbours.set(node.ID, (this.#neighbours.get(node.ID) ?? 0) + by);
    for (const column of this.#distinct) column.change(node, this.#group.Name, by);
    for (const column of this.#spreads) column.change(node, by);
    this.refresh(node);
  }

  #compute(slot: number): void {
    const fit = this.#rooms[slot]!.fit(this.ask);
    this.#fits[slot] = fit;
    if (!fit.fits) return;
    const node = this.nodes[slot]!;
    let sum = this.#pack(slot);
    let terms = 1;
    const neighbours = this.#neighbours.get(node.ID) ?? 0;
    if (neighbours > 0) {
      sum += antiAffinityScore(neighbours, this.#group.Count);
      terms++;
    }
    if (this.#affinity !== undefined) {
      sum += this.#affinity(node);
      terms++;
    }
    this.#sums[slot] = sum;
    this.#terms[slot] = terms;
  }

  #pack(slot: number): number {
    const room = this.#rooms[slot]!;
    const fit = this.#fits[slot]!;
    if (!fit.fits) return 0;
    return packScore(this.#algorithm, room.used, fit.need, room.capacity);
  }

  #spreadAt(slot: number): number {
    let boost = 0;
    for (const column of this.#spreads) boost += column.boost(slot);
    return boost;
  }
}
