/**
 * Keeps the fleet and the sheets from one evaluation to the next, so that an evaluation costs what
 * changed instead of the whole cluster. The memory changes no decision: the same view, evaluation,
 * instant and ids give the same plan with any memory and with none.
 * Source: docs/behaviour/scheduling.md#the-scheduler.
 *
 * 1. The fleet shows the state of `#index`. It follows every transaction; after a missed one the fleet
 *    is read from scratch.
 * 2. While an evaluation is decided the fleet stands still: changes wait in `#unseenChanges`.
 * 3. One evaluation is decided at a time. Beginning another ends the session of the first.
 * 4. A sheet is used only at the fleet's revision. Their number is bounded: the least recently used
 *    are dropped.
 */
import { assert } from '../../base/assert.ts';
import type { Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { allocations, nodes } from '../../state/tables.ts';
import type { Change } from '../../state/types.ts';
import type { Occupancy } from '../fitting/occupancy.ts';
import type { ClusterView } from '../view.ts';
import { Fleet } from './fleet.ts';
import { shapeKey, shapeOf } from './shape.ts';
import { Sheet } from './sheet.ts';

export class SchedulerMemory {
  readonly #sheetsKept: number;
  readonly #sheets = new Map<string, Sheet>();
  #fleet: Fleet | undefined;
  #index = -1;
  #session: Session | undefined;
  #unseenChanges: { readonly changes: readonly Change[]; readonly index: number }[] = [];

  constructor(sheetsKept: number = limits.scheduler.sheetsKept) {
    this.#sheetsKept = sheetsKept;
  }

  /** The number of sheets kept. */
  get size(): number {
    return this.#sheets.size;
  }

  /**
   * Takes the changes of a transaction. Callers pass every transaction, in the order of the
   * indexes.
   */
  noteChanges(changes: readonly Change[], index: number): void {
    if (this.#session === undefined) this.#followChanges(changes, index);
    else this.#unseenChanges.push({ changes, index });
  }

  /** The node's occupancy at the index; `undefined`: the memory is at another index. */
  occupancyOf(nodeId: string, index: number): Occupancy | undefined {
    if (this.#session !== undefined || index !== this.#index) return undefined;
    return this.#fleet?.occupancyOf(nodeId);
  }

  /** Begins an evaluation. Views of the same index have to show the same state. */
  begin(view: ClusterView): Session {
    if (this.#session !== undefined) {
      this.#forgetFleet();
      this.#session.end();
    }
    const isKept = this.#fleet !== undefined;
    // A view older than the fleet gets a memory of its own.
    if (isKept && view.index < this.#index) return new SchedulerMemory(0).begin(view);
    if (isKept && view.index > this.#index) this.#forgetFleet();
    this.#index = view.index;
    this.#fleet ??= new Fleet();
    this.#session = new Session(this, this.#fleet, view);
    return this.#session;
  }

  /** @internal for the session */
  endSession(session: Session): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    const waiting = this.#unseenChanges;
    this.#unseenChanges = [];
    for (const { changes, index } of waiting) this.#followChanges(changes, index);
  }

  /** @internal for the session */
  takeSheet(key: string, revision: number): Sheet | undefined {
    const sheet = this.#sheets.get(key);
    if (sheet === undefined) return undefined;
    this.#sheets.delete(key);
    if (sheet.revision !== revision) return undefined;
    this.#sheets.set(key, sheet);
    return sheet;
  }

  /** @internal for the session */
  keepSheet(key: string, sheet: Sheet): void {
    this.#sheets.set(key, sheet);
    for (const oldest of this.#sheets.keys()) {
      if (this.#sheets.size <= this.#sheetsKept) break;
      this.#sheets.delete(oldest);
    }
  }

  #followChanges(changes: readonly Change[], index: number): void {
    const fleet = this.#fleet;
    if (fleet === undefined || index <= this.#index) return;
    if (index !== this.#index + 1) {
      this.#forgetFleet();
      return;
    }
    this.#index = index;
    for (const { table, before, after } of changes) {
      if (table === allocations.name) {
        fleet.allocationChanged(before as Allocation | undefined, after as Allocation | undefined);
      } else if (table === nodes.name) {
        fleet.nodeChanged(before as Node | undefined, after as Node | undefined);
      }
    }
  }

  #forgetFleet(): void {
    this.#fleet = undefined;
    this.#sheets.clear();
  }
}

/** The use of a memory by an evaluation. */
export class Session {
  readonly #memory: SchedulerMemory;
  readonly #fleet: Fleet;
  readonly #view: ClusterView;
  #isOver = false;

  constructor(memory: SchedulerMemory, fleet: Fleet, view: ClusterView) {
    this.#memory = memory;
    this.#fleet = fleet;
    this.#view = view;
  }

  /** The view's nodes, with the changes of the plan under way. */
  *fleet(): Steps<Fleet> {
    assert(!this.#isOver, 'another evaluation began before this one was decided');
    yield* this.#fleet.arrange(this.#view);
    return this.#fleet;
  }

  /** The sheet of the group's shape, up to date. */
  *sheet(job: Job, group: TaskGroup): Steps<Sheet> {
    const fleet = yield* this.fleet();
    const { algorithm } = this.#view.configuration;
    const key = shapeKey(job, group, algorithm);
    const kept = this.#memory.takeSheet(key, fleet.revision);
    if (kept !== undefined) {
      yield* kept.catchUp();
      return kept;
    }
    const sheet = yield* Sheet.of(shapeOf(job, group, algorithm), fleet);
    this.#memory.keepSheet(key, sheet);
    return sheet;
  }

  /** Discards the plan under way. May be called twice. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#fleet.forgetPlan();
    this.#memory.endSession(this);
  }
}
