/**
 * Two plain schedulers to compare with. They only choose nodes, and do not reconcile, explain or make
 * allocations.
 *
 * `all` looks at every node for every placement. Roster's scheduler has to make the same choices.
 * `sample` shuffles the nodes for each evaluation, and a placement takes the best of the next few feasible
 * nodes. The next placement continues after them.
 */
import type { Random } from '../src/base/ports.ts';
import { seededRandom } from '../src/base/ports-simulated.ts';
import type { Job } from '../src/model/job/job.ts';
import type { Node } from '../src/model/node/node.ts';
import { compileOperand } from '../src/scheduler/fitting/operands.ts';
import type { Placed } from './scheduler-paper.ts';
import { ProcessorWaits } from './thread-time.ts';

const waits = new ProcessorWaits();

interface Slot {
  readonly node: Node;
  readonly rack: string;
  readonly cpu: number;
  readonly memory: number;
  usedCpu: number;
  usedMemory: number;
  /** Allocations of the placed group. */
  neighbours: number;
}

/** Number of nodes with a score of 0 or less that are skipped while other nodes may follow. */
const skipsMax = 3;

export class PlainScheduler {
  readonly #slots: readonly Slot[];
  readonly #samples: boolean;
  readonly #random: Random;

  constructor(nodes: readonly Node[], kind: 'all' | 'sample', seed = 1) {
    this.#slots = nodes.map((node) => ({
      node,
      rack: node.Meta.rack ?? '',
      usedCpu: 0,
      usedMemory: 0,
      neighbours: 0,
      cpu: node.NodeResources.Cpu.CpuShares,
      memory: node.NodeResources.Memory.MemoryMB,
    }));
    this.#samples = kind === 'sample';
    this.#random = seededRandom(seed);
  }

  get used(): number {
    return this.#slots.filter(({ usedCpu }) => usedCpu > 0).length;
  }

  /** Supports jobs with a single task, constraints that compare, and an even spread over racks. */
  place(job: Job): Placed {
    const startMs = waits.clockMs;
    const group = job.TaskGroups[0]!;
    const { CPU, MemoryMB } = group.Tasks[0]!.Resources;
    const rules = [...(job.Constraints ?? []), ...(group.Constraints ?? [])].map(compileOperand);
    const spreads = (job.Spreads ?? []).length > 0;
    const order = this.#samples ? this.#shuffled() : this.#slots;
    const limit = this.#samples ? this.#limit(job, group.Count, spreads) : order.length;
    const verdicts = new Map<string, boolean>();
    const isFeasible = ({ node }: Slot): boolean => {
      let verdict = verdicts.get(node.ComputedClass);
      if (verdict === undefined) {
        verdict = rules.every((passes) => passes(node));
        verdicts.set(node.ComputedClass, verdict);
      }
      return verdict;
    };
    const racks = new Map<string, number>();
    const chosen: Slot[] = [];
    let cursor = 0;
    for (let turn = 0; turn < group.Count; turn++) {
      const ends = endsOf(racks);
      let best: Slot | undefined;
      let bestScore = Number.NEGATIVE_INFINITY;
      let scored = 0;
      const passedOver: { readonly slot: Slot; readonly score: number }[] = [];
      let seen = 0;
      for (; seen < order.length && scored < limit; seen++) {
        const slot = order[(cursor + seen) % order.length]!;
        if (!isFeasible(slot)) continue;
        if (slot.usedCpu + CPU > slot.cpu || slot.usedMemory + MemoryMB > slot.memory) continue;
        const boost = spreads ? evenBoost(racks.get(slot.rack) ?? 0, ends) : 0;
        const score = scoreOf(slot, { cpu: CPU, memory: MemoryMB, count: group.Count }, boost);
        if (this.#samples && score <= 0 && passedOver.length < skipsMax) {
          passedOver.push({ slot, score });
          continue;
        }
        scored++;
        if (score <= bestScore) continue;
        best = slot;
        bestScore = score;
      }
      if (this.#samples) cursor = (cursor + seen) % order.length;
      for (const { slot, score } of scored < limit ? passedOver : []) {
        if (score <= bestScore) continue;
        best = slot;
        bestScore = score;
      }
      if (best === undefined) break;
      best.usedCpu += CPU;
      best.usedMemory += MemoryMB;
      best.neighbours++;
      if (spreads) racks.set(best.rack, (racks.get(best.rack) ?? 0) + 1);
      chosen.push(best);
    }
    for (const slot of chosen) slot.neighbours = 0;
    const elapsedMs = waits.clockMs - startMs;
    return { nodes: chosen.map(({ node }) => node.ID), elapsedMs };
  }

  #limit(job: Job, count: number, spreads: boolean): number {
    if (spreads) return Math.max(count, 100);
    return job.Type === 'batch' ? 2 : Math.max(2, Math.ceil(Math.log2(this.#slots.length)));
  }

  #shuffled(): readonly Slot[] {
    const slots = [...this.#slots];
    for (let at = slots.length - 1; at > 0; at--) {
      const other = this.#random.below(at + 1);
      const kept = slots[at]!;
      slots[at] = slots[other]!;
      slots[other] = kept;
    }
    return slots;
  }
}

interface Ask {
  readonly cpu: number;
  readonly memory: number;
  /** Allocations of the group. */
  readonly count: number;
}

function scoreOf(slot: Slot, { cpu, memory, count }: Ask, boost: number): number {
  const powers =
    10 ** (1 - (slot.usedCpu + cpu) / slot.cpu) +
    10 ** (1 - (slot.usedMemory + memory) / slot.memory);
  let sum = Math.min(Math.max(20 - powers, 0), 18) / 18;
  let terms = 1;
  if (slot.neighbours > 0) {
    sum += -(slot.neighbours + 1) / count;
    terms++;
  }
  if (boost !== 0) {
    sum += boost;
    terms++;
  }
  return sum / terms;
}

interface Ends {
  readonly least: number;
  readonly most: number;
}

/** Of the racks in use. */
const endsOf = (racks: ReadonlyMap<string, number>): Ends | undefined =>
  racks.size === 0
    ? undefined
    : { least: Math.min(...racks.values()), most: Math.max(...racks.values()) };

function evenBoost(current: number, ends: Ends | undefined): number {
  if (ends === undefined) return 0;
  const { least, most } = ends;
  if (current !== least) return (least - current) / least;
  return least === most ? -1 : (most - least) / least;
}
