/**
 * All nodes in columns, with what is held of each: what an evaluation reads of the cluster, and what
 * is kept for the next one. Source: docs/behaviour/scheduling.md#the-scheduler.
 *
 * 1. A slot is a node; slots ascend by node id.
 * 2. `used` of a slot is what its load holds, plus what the plan under way places there.
 * 3. Whoever changes what a slot holds calls `touch`, so that who keeps something by slot (a sheet)
 *    can bring it up to date.
 * 4. `revision` rises when something changes that a rule may read of a node, or when the slots do.
 */
import type { Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isReadyNode, type Node } from '../../model/node/node.ts';
import { isSame } from '../../model/same.ts';
import { NodeOccupancy } from '../fitting/occupancy.ts';
import { PlannedNode } from '../fitting/planned-node.ts';
import { capacityOf, type Need } from '../fitting/resources.ts';
import { compileTarget, isUnique } from '../fitting/target.ts';
import { Numbering } from '../scoring/numbering.ts';
import type { ClusterView } from '../view.ts';

/** An attribute over all nodes: by slot the number of its value, -1 where the node lacks it. */
export interface ValueColumn {
  readonly values: Numbering;
  readonly numberAt: Int32Array;
}

/** Capacity, or what is used of it, in columns. Cores are told apart by number, so not here. */
export interface Amounts {
  readonly cpu: Float64Array;
  readonly memory: Float64Array;
  readonly disk: Float64Array;
}

/** Classes that may be remembered for nothing. */
const classesSpare = 1000;

/** Nodes, or allocations on them, that are looked at before others get their turn. */
const loadedPerStep = 500;

export class Fleet {
  #nodes: Node[] = [];
  #occupancies: NodeOccupancy[] = [];
  #slots = new Map<string, number>();
  #planned: (PlannedNode | undefined)[] = [];
  readonly #plannedSlots: number[] = [];
  #columns = columnsFor(0);
  #used: Amounts = amounts(0);
  readonly #values = new Map<string, ValueColumn>();
  #revision = 0;
  /** The newest state that was looked at: what the loads know, while no plan is under way. */
  #view: ClusterView | undefined;
  /** Whether nodes came or went since the slots were given out. */
  #reordered = true;
  readonly #changedSlots = new ChangedSlots();

  get nodes(): readonly Node[] {
    return this.#nodes;
  }

  get capacity(): Amounts {
    return this.#columns.capacity;
  }

  get used(): Amounts {
    return this.#used;
  }

  get revision(): number {
    return this.#revision;
  }

  get changedSlots(): ChangedSlots {
    return this.#changedSlots;
  }

  /** By slot, the number of its computed class; -1 where it has none. */
  get classOf(): Int32Array {
    return this.#columns.classOf;
  }

  get classNames(): readonly string[] {
    return this.#columns.classes.names;
  }

  slotOf(nodeId: string): number {
    return this.#slots.get(nodeId) ?? -1;
  }

  /** The values of `${…}` over all nodes. */
  column(target: string): ValueColumn {
    let column = this.#values.get(target);
    if (column === undefined) {
      column = this.#readColumn(target);
      this.#values.set(target, column);
    }
    return column;
  }

  /** The node as the plan under way sees it, if it did something there. */
  plannedIfAny(slot: number): PlannedNode | undefined {
    return this.#planned[slot];
  }

  /** Who holds what of the node, without the plan under way. */
  occupancyAt(slot: number): NodeOccupancy {
    return this.#occupancies[slot]!;
  }

  /** `undefined`: the node is not known. */
  occupancyOf(nodeId: string): NodeOccupancy | undefined {
    return this.#occupancies[this.slotOf(nodeId)];
  }

  plannedAt(slot: number, portStart: number): PlannedNode {
    let planned = this.#planned[slot];
    if (planned === undefined) {
      planned = new PlannedNode(this.#nodes[slot]!, this.#occupancies[slot]!, portStart);
      this.#planned[slot] = planned;
      this.#plannedSlots.push(slot);
    }
    return planned;
  }

  /** Takes over what the plan under way uses of the node now. */
  setUsed(slot: number, used: Need): void {
    this.#used.cpu[slot] = used.cpu;
    this.#used.memory[slot] = used.memory;
    this.#used.disk[slot] = used.disk;
    this.#changedSlots.add(slot);
  }

  /** Forgets the plan under way. */
  forgetPlan(): void {
    for (const slot of this.#plannedSlots) {
      this.#planned[slot] = undefined;
      this.setUsed(slot, this.#occupancies[slot]!.used);
    }
    this.#plannedSlots.length = 0;
  }

  /** An allocation came, changed or went. Not while a plan is under way. */
  allocationChanged(before: Allocation | undefined, after: Allocation | undefined): void {
    const slot = this.slotOf((after ?? before)!.NodeID);
    // A node that is not known is read whole when it comes.
    if (slot < 0) return;
    const occupancy = this.#occupancies[slot]!;
    if (occupancy.change(before, after)) this.setUsed(slot, occupancy.used);
  }

  /** A node came, changed or went. Not while a plan is under way. */
  nodeChanged(before: Node | undefined, after: Node | undefined): void {
    const slot = this.slotOf((after ?? before)!.ID);
    if (after === undefined || slot < 0) {
      this.#reordered = true;
      return;
    }
    const known = this.#nodes[slot]!;
    this.#nodes[slot] = after;
    if (isAlike(known, after)) return;
    describeNode(this.#columns, slot, after);
    this.#changedSlots.add(slot);
    this.#raiseRevision();
    // Classes that no node has any more are forgotten with all numbers.
    const classesMax = 2 * this.#nodes.length + classesSpare;
    if (this.#columns.classes.names.length > classesMax) this.#reordered = true;
  }

  /** Takes the view, which shows the state that was told of, and gives out the slots anew if need be. */
  *arrange(view: ClusterView): Steps<void> {
    this.#view = view;
    if (!this.#reordered) return;
    const nodes = [...view.nodes()];
    const occupancies: NodeOccupancy[] = [];
    const slots = new Map<string, number>();
    const columns = columnsFor(nodes.length);
    let looked = 0;
    for (const [slot, node] of nodes.entries()) {
      const { ID } = node;
      slots.set(ID, slot);
      describeNode(columns, slot, node);
      const known = this.#occupancies[this.slotOf(ID)];
      const occupancy = known ?? new NodeOccupancy(() => this.#view!.allocationsOnNode(ID));
      occupancies.push(occupancy);
      if (known === undefined) {
        for (const allocation of view.allocationsOnNode(ID)) {
          occupancy.change(undefined, allocation);
          looked++;
        }
      }
      if (++looked < loadedPerStep) continue;
      looked = 0;
      yield;
    }
    this.#nodes = nodes;
    this.#occupancies = occupancies;
    this.#slots = slots;
    this.#columns = columns;
    this.#planned = Array(nodes.length).fill(undefined);
    this.#used = amounts(nodes.length);
    for (const slot of nodes.keys()) this.setUsed(slot, occupancies[slot]!.used);
    this.#reordered = false;
    this.#raiseRevision();
  }

  #raiseRevision(): void {
    this.#revision++;
    this.#values.clear();
  }

  #readColumn(target: string): ValueColumn {
    const values = new Numbering();
    const read = compileTarget(target);
    const numberOf = (node: Node): number => {
      const value = read(node);
      return value === undefined ? -1 : values.of(value);
    };
    // Nodes of one computed class may differ in unique attributes only.
    const byClass = isUnique(target) ? undefined : new Map<number, number>();
    const numberAt = Int32Array.from(this.#nodes, (node, slot) => {
      const one = this.classOf[slot]!;
      if (byClass === undefined || one < 0) return numberOf(node);
      let number = byClass.get(one);
      if (number === undefined) {
        number = numberOf(node);
        byClass.set(one, number);
      }
      return number;
    });
    return { values, numberAt };
  }
}

/** What nodes say of themselves. */
interface Columns {
  readonly capacity: Amounts;
  /** The numbers of computed classes. */
  readonly classOf: Int32Array;
  readonly classes: Numbering;
}

const columnsFor = (size: number): Columns => ({
  capacity: amounts(size),
  classOf: new Int32Array(size),
  classes: new Numbering(),
});

function describeNode({ capacity, classOf, classes }: Columns, slot: number, node: Node): void {
  const { cpu, memory, disk } = capacityOf(node);
  capacity.cpu[slot] = cpu;
  capacity.memory[slot] = memory;
  capacity.disk[slot] = disk;
  classOf[slot] = node.ComputedClass === '' ? -1 : classes.of(node.ComputedClass);
}

const amounts = (size: number): Amounts => ({
  cpu: new Float64Array(size),
  memory: new Float64Array(size),
  disk: new Float64Array(size),
});

/** Whether no rule and no score can tell the two forms of a node apart. */
const isAlike = (before: Node, after: Node): boolean =>
  before.ComputedClass === after.ComputedClass &&
  before.Name === after.Name &&
  isReadyNode(before) === isReadyNode(after) &&
  isSame(before.NodeResources, after.NodeResources) &&
  isSame(before.ReservedResources, after.ReservedResources) &&
  isSame(before.HostVolumes, after.HostVolumes) &&
  isSame(before.Attributes, after.Attributes) &&
  isSame(before.Meta, after.Meta);

/**
 * The slots whose room changed, in order, so that each reader can catch up from where it was. Of a
 * slot that was touched often only the last time counts.
 */
export class ChangedSlots {
  #slots: number[] = [];
  /** What was dropped in front. */
  #dropped = 0;
  #lastOf: number[] = [];

  /** The place after the newest entry. */
  get end(): number {
    return this.#dropped + this.#slots.length;
  }

  add(slot: number): void {
    this.#lastOf[slot] = this.end;
    this.#slots.push(slot);
    const most = 4 * this.#lastOf.length + 1024;
    if (this.#slots.length <= most) return;
    const kept = this.#slots.length >> 1;
    this.#dropped += this.#slots.length - kept;
    this.#slots = this.#slots.slice(-kept);
  }

  /** Each slot once that was touched from `start` on; `undefined`: too long ago to be known. */
  since(start: number): readonly number[] | undefined {
    if (start < this.#dropped) return undefined;
    const slots: number[] = [];
    for (let at = start - this.#dropped; at < this.#slots.length; at++) {
      const slot = this.#slots[at]!;
      if (this.#lastOf[slot] === this.#dropped + at) slots.push(slot);
    }
    return slots;
  }
}
