/** The scheduler on a cluster in memory, which only makes and applies plans. */
import { realWorld } from '../src/base/ports-real.ts';
import type { Allocation } from '../src/model/allocation/allocation.ts';
import type { Job } from '../src/model/job/job.ts';
import type { Node } from '../src/model/node/node.ts';
import { makeEvaluation } from '../src/scheduler/cluster.test-helper.ts';
import { SchedulerMemory } from '../src/scheduler/memory/memory.ts';
import { schedule } from '../src/scheduler/schedule.ts';
import { type ClusterView, schedulerDefaults } from '../src/scheduler/view.ts';
import { allocations as allocationsTable } from '../src/state/tables.ts';
import { ProcessorWaits } from './thread-time.ts';

const waits = new ProcessorWaits();

export interface Placed {
  /** Ids of the nodes, in the order of the placements. */
  readonly nodes: readonly string[];
  /** Without the time in which the thread waited for a processor. */
  readonly elapsedMs: number;
}

export class PaperCluster implements ClusterView {
  readonly configuration = schedulerDefaults;
  index = 1;
  readonly #nodes: readonly Node[];
  readonly #byId: ReadonlyMap<string, Node>;
  readonly #jobs = new Map<string, Job>();
  readonly #byJob = new Map<string, readonly Allocation[]>();
  readonly #byNode = new Map<string, Allocation[]>();
  readonly #memory = new SchedulerMemory();

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
    this.#byId = new Map(nodes.map((node) => [node.ID, node]));
  }

  /** Nodes with allocations. */
  get used(): number {
    return this.#byNode.size;
  }

  /** An evaluation: it reconciles, places, plans, and adds the placements to the memory. */
  place(job: Job): Placed {
    this.#jobs.set(job.ID, job);
    const evaluation = makeEvaluation({ JobID: job.ID, Type: job.Type });
    const startMs = waits.clockMs;
    const session = this.#memory.begin(this);
    const { plan } = schedule(this, evaluation, { nowMs: 0, ids: realWorld.ids, session });
    session.end();
    const plannedMs = waits.clockMs;
    const placed = plan.placements as readonly Allocation[];
    this.#byJob.set(job.ID, placed);
    for (const one of placed) {
      const there = this.#byNode.get(one.NodeID);
      if (there === undefined) this.#byNode.set(one.NodeID, [one]);
      else there.push(one);
    }
    this.index++;
    const changes = placed.map((after) => ({
      table: allocationsTable.name,
      before: undefined,
      after,
    }));
    const appliedMs = waits.clockMs;
    this.#memory.noteChanges(changes, this.index);
    const elapsedMs = plannedMs - startMs + waits.clockMs - appliedMs;
    return { nodes: placed.map(({ NodeID }) => NodeID), elapsedMs };
  }

  job(_namespace: string, id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  jobVersion(_namespace: string, id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  allocationsOfJob(_namespace: string, id: string): readonly Allocation[] {
    return this.#byJob.get(id) ?? [];
  }

  deploymentsOfJob(): readonly [] {
    return [];
  }

  /** The cluster in memory has none. */
  isOver(): boolean {
    return true;
  }

  node(id: string): Node | undefined {
    return this.#byId.get(id);
  }

  nodes(): readonly Node[] {
    return this.#nodes;
  }

  allocationsOnNode(id: string): readonly Allocation[] {
    return this.#byNode.get(id) ?? [];
  }
}
