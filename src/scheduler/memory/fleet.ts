/**
 * All nodes with their occupancies, in columns. Kept from one evaluation to the next.
 * Source: docs/behaviour/scheduling.md#the-scheduler.
 *
 * 1. A slot is the number of a node; slots ascend by node id.
 * 2. `used` of a slot is its occupancy, with the changes of the plan under way.
 * 3. Every change of a slot's resources goes through `setUsed` or `nodeChanged`, which note the slot
 *    in `changedSlots`, so that sheets can catch up.
 * 4. `revision` rises when a node changes in a way that a rule may read, or when the slots change.
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

/** An attribute of all nodes: by slot, the number of its value; -1: the node lacks it. */
export interface ValueColumn {
  readonly values: Numbering;
  readonly numberAt: Int32Array;
}

/** Capacity or used resources, by slot. Without cores, which are held by number. */
export interface Amounts {
  readonly cpu: Float64Array;
  readonly memory: Float64Array;
  readonly disk: Float64Array;
}

/** Unused classes allowed, in addition to one for each node, before all are numbered again. */
const classesSpare = 1000;

/** Nodes and allocations read in a step. */
const loadedPerStep = 500;

export class Fleet {
  #nodes: Node[] = [];
  #ids: string[] = [];
  #occupancies: NodeOccupancy[] = [];
  #slots = new Map<string, number>();
  #planned: (PlannedNode | undefined)[] = [];
  /** The slots that the plan under way touched, each once, and by slot whether it did. */
  readonly #touchedSlots: number[] = [];
  #isTouched = new Uint8Array(0);
  /** The slots that the last plan placed allocations on. The changes of a transaction mostly come in this order. */
  #expectedSlots: number[] = [];
  #expectedAt = 0;
  #isPlanOver = true;
  #columns = columnsFor(0);
  #used: Amounts = amounts(0);
  readonly #values = new Map<string, ValueColumn>();
  #revision = 0;
  /** The newest view read. */
  #view: ClusterView | undefined;
  /** Whether the slots have to be assigned again. */
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

  /** By slot, the number of its computed class; -1: the node has none. */
  get classOf(): Int32Array {
    return this.#columns.classOf;
  }

  get classNames(): readonly string[] {
    return this.#columns.classes.names;
  }

  slotOf(nodeId: string): number {
    return this.#slots.get(nodeId) ?? -1;
  }

  /** The values of a `${…}` target over all nodes. */
  column(target: string): ValueColumn {
    let column = this.#values.get(target);
    if (column === undefined) {
      column = this.#readColumn(target);
      this.#values.set(target, column);
    }
    return column;
  }

  /**
   * The node with the plan's changes; `undefined`: the plan changed at most the sums in `used` (see {@link place}).
   */
  plannedIfAny(slot: number): PlannedNode | undefined {
    return this.#planned[slot];
  }

  /** The node with the plan's changes, only to look at. */
  lookAt(slot: number): PlannedNode {
    return this.#planned[slot] ?? this.#newPlanned(slot, 0);
  }

  /** The node's occupancy, without the plan under way. */
  occupancyAt(slot: number): NodeOccupancy {
    return this.#occupancies[slot]!;
  }

  /** The occupancy by node id; `undefined`: the fleet does not have the node. */
  occupancyOf(nodeId: string): NodeOccupancy | undefined {
    return this.#occupancies[this.slotOf(nodeId)];
  }

  plannedAt(slot: number, portStart: number): PlannedNode {
    let planned = this.#planned[slot];
    if (planned === undefined) {
      planned = this.#newPlanned(slot, portStart);
      this.#planned[slot] = planned;
      this.#touch(slot);
    }
    return planned;
  }

  /**
   * Places an allocation that holds no pieces and takes over nothing. A node with such placements alone needs no
   * {@link PlannedNode}.
   */
  place(slot: number, need: Need): void {
    if (this.#isPlanOver) {
      this.#expectedSlots = [];
      this.#expectedAt = 0;
      this.#isPlanOver = false;
    }
    this.#expectedSlots.push(slot);
    const { cpu, memory, disk } = this.#used;
    cpu[slot]! += need.cpu;
    memory[slot]! += need.memory;
    disk[slot]! += need.disk;
    this.#touch(slot);
    this.#changedSlots.add(slot);
  }

  #touch(slot: number): void {
    if (this.#isTouched[slot] === 1) return;
    this.#isTouched[slot] = 1;
    this.#touchedSlots.push(slot);
  }

  #newPlanned(slot: number, portStart: number): PlannedNode {
    const occupancy = this.#occupancies[slot]!;
    const { cpu, memory, disk } = this.#used;
    return new PlannedNode(this.#nodes[slot]!, occupancy, portStart, {
      capacity: this.#columns.capacities[slot]!,
      used: {
        cpu: cpu[slot]!,
        memory: memory[slot]!,
        disk: disk[slot]!,
        cores: occupancy.used.cores,
      },
    });
  }

  /** Sets the resources used of the node, with the plan under way. */
  setUsed(slot: number, used: Need): void {
    this.#used.cpu[slot] = used.cpu;
    this.#used.memory[slot] = used.memory;
    this.#used.disk[slot] = used.disk;
    this.#changedSlots.add(slot);
  }

  /** Discards the plan under way. */
  forgetPlan(): void {
    for (const slot of this.#touchedSlots) {
      this.#planned[slot] = undefined;
      this.#isTouched[slot] = 0;
      this.setUsed(slot, this.#occupancies[slot]!.used);
    }
    this.#touchedSlots.length = 0;
    this.#isPlanOver = true;
  }

  /** Notes that an allocation was added, changed or removed. Not to be called while a plan is under way. */
  allocationChanged(before: Allocation | undefined, after: Allocation | undefined): void {
    const slot = this.#expectedSlotOf((after ?? before)!.NodeID);
    // Allocations of an unknown node are read together with the node.
    if (slot < 0) return;
    const occupancy = this.#occupancies[slot]!;
    if (occupancy.change(before, after)) this.setUsed(slot, occupancy.used);
  }

  /** {@link slotOf}, without a search if the allocation is the next one of the last plan. */
  #expectedSlotOf(nodeId: string): number {
    const slot = this.#expectedSlots[this.#expectedAt];
    if (slot === undefined || this.#ids[slot] !== nodeId) return this.slotOf(nodeId);
    this.#expectedAt++;
    return slot;
  }

  /** Notes that a node was added, changed or removed. Not to be called while a plan is under way. */
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
    // Numbering the classes again drops those that no node has any more.
    const classesMax = 2 * this.#nodes.length + classesSpare;
    if (this.#columns.classes.names.length > classesMax) this.#reordered = true;
  }

  /** Takes the view, which shows the state followed so far, and assigns slots again if necessary. */
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
    this.#ids = nodes.map(({ ID }) => ID);
    this.#occupancies = occupancies;
    this.#slots = slots;
    this.#columns = columns;
    this.#planned = Array(nodes.length).fill(undefined);
    this.#isTouched = new Uint8Array(nodes.length);
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
    // Nodes of one computed class differ in unique attributes only.
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

/** Facts about the nodes, by slot. */
interface Columns {
  readonly capacity: Amounts;
  /** The same with cores: each is one object, while the capacity of a node is the sum of many. */
  readonly capacities: Need[];
  /** The numbers of computed classes. */
  readonly classOf: Int32Array;
  readonly classes: Numbering;
}

const columnsFor = (size: number): Columns => ({
  capacity: amounts(size),
  capacities: [],
  classOf: new Int32Array(size),
  classes: new Numbering(),
});

function describeNode(columns: Columns, slot: number, node: Node): void {
  const { capacity, capacities, classOf, classes } = columns;
  const whole = capacityOf(node);
  const { cpu, memory, disk } = whole;
  capacities[slot] = whole;
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

/** Whether rules and scores see no difference between two rows of a node. */
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
 * A log of the slots whose resources changed. Each reader catches up from its own position.
 *
 * 1. Of a slot noted several times only the last entry counts.
 * 2. A slot whose last entry no reader has passed yet gets no further entry: every reader has that one before it.
 */
export class ChangedSlots {
  #slots: number[] = [];
  /** Number of entries dropped at the front. */
  #dropped = 0;
  #lastOf: number[] = [];
  /** The greatest position that a reader was given. */
  #passed = 0;

  /** The position after the newest entry, for a reader that goes on from there. */
  pass(): number {
    this.#passed = this.#dropped + this.#slots.length;
    return this.#passed;
  }

  add(slot: number): void {
    if (this.#lastOf[slot]! >= this.#passed) return;
    this.#lastOf[slot] = this.#dropped + this.#slots.length;
    this.#slots.push(slot);
    const most = 4 * this.#lastOf.length + 1024;
    if (this.#slots.length <= most) return;
    const kept = this.#slots.length >> 1;
    this.#dropped += this.#slots.length - kept;
    this.#slots = this.#slots.slice(-kept);
  }

  /** The slots noted since `start`, each once; `undefined`: these entries were dropped. */
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
