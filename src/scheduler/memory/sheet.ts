/**
 * The score sheet of a shape of groups: for every node whether a rule filters it out, whether it is
 * full, and its score. Kept from one evaluation to the next.
 * Source: docs/behaviour/scheduling.md#the-scheduler.
 *
 * 1. `failed` tells for each slot whether it is a candidate and passes the rules; it never changes.
 * 2. `#dimension`, `#packs` and the tournament equal those computed from scratch, as far as the sheet
 *    has caught up with the fleet's `changedSlots`.
 * 3. Between groups the tournament holds scores without neighbours, and `neighbours` is 0: `Candidates` undoes its
 *    changes.
 */
import type { Steps } from '../../base/steps.ts';
import type { Node } from '../../model/node/node.ts';
import type { Rule } from '../fitting/feasibility.ts';
import type { PlannedNode } from '../fitting/planned-node.ts';
import { parsePortList } from '../fitting/ports.ts';
import { Numbering } from '../scoring/numbering.ts';
import { freeShare, packScore, packScoreOfShares } from '../scoring/score.ts';
import { closed, Tournament, TreeLayout } from '../scoring/tournament.ts';
import type { Fleet, ValueColumn } from './fleet.ts';
import type { Shape } from './shape.ts';

/** In `failed`: the slot passes every rule. */
export const feasible = -1;
/** In `failed`: the node takes no work, or is not of the job's pool and datacenters. */
const noCandidate = -2;

/** In `dimension`: nothing is short. */
const fits = 0;

/** Slots computed in a step. */
const slotsPerStep = 512;

interface ClassVerdict {
  /** The first failed rule of scope `candidate`. */
  readonly unwanted: Rule | undefined;
  /** Position of the first failed rule of scope `class`; the number of rules if none fails. */
  readonly failed: number;
}

/** Numbers of nodes for the metrics of every placement of the shape. */
export interface SheetCounts {
  nodesInPool: number;
  candidates: number;
  filtered: number;
  /** Candidates by datacenter. */
  readonly available: Map<string, number>;
  readonly constraints: Map<string, number>;
  readonly classes: Map<string, number>;
}

export class Sheet {
  readonly shape: Shape;
  readonly fleet: Fleet;
  /** The fleet's revision for which the sheet was made. */
  readonly revision: number;
  readonly failed: Int16Array;
  /** By slot, the allocations of the group that is being placed; 0 between groups. */
  readonly neighbours: Int32Array;
  readonly counts: SheetCounts = {
    nodesInPool: 0,
    candidates: 0,
    filtered: 0,
    available: new Map(),
    constraints: new Map(),
    classes: new Map(),
  };
  /** The columns of the shape's targets, in their order. */
  readonly columns: readonly ValueColumn[];
  readonly #dimension: Uint16Array;
  readonly #dimensions = new Numbering();
  /** By dimension, the number of feasible slots where it is short. */
  readonly #exhausted: number[] = [];
  readonly #packs: Float64Array;
  /** By slot, the scores of the device affinities. */
  readonly #devices: Float64Array | undefined;
  readonly #affinities: Float64Array | undefined;
  #layout = new TreeLayout(new Int32Array(0), 0);
  #open = new Tournament(this.#layout);
  #withNeighbours = new Tournament(this.#layout);
  /** By target and class of the tournament, the number of the value. */
  #classValues: readonly Int32Array[] = [];
  /** By computed class, whether its nodes pass the rules of scope `class`. */
  readonly #verdicts: boolean[] = [];
  #caughtUpTo = 0;

  private constructor(shape: Shape, fleet: Fleet) {
    const size = fleet.nodes.length;
    this.shape = shape;
    this.fleet = fleet;
    this.revision = fleet.revision;
    this.failed = new Int16Array(size).fill(noCandidate);
    this.neighbours = new Int32Array(size);
    this.columns = shape.targets.map((target) => fleet.column(target));
    this.#dimension = new Uint16Array(size);
    this.#dimensions.of('');
    this.#exhausted[fits] = 0;
    this.#packs = new Float64Array(size);
    const hasDevices = shape.ask.devices.some(({ weight }) => weight > 0);
    this.#devices = hasDevices ? new Float64Array(size) : undefined;
    this.#affinities = shape.affinity === undefined ? undefined : new Float64Array(size);
  }

  static *of(shape: Shape, fleet: Fleet): Steps<Sheet> {
    const sheet = new Sheet(shape, fleet);
    yield* sheet.#filterNodes();
    sheet.#seedTournaments();
    for (let slot = 0; slot < fleet.nodes.length; slot++) {
      if (sheet.failed[slot] !== feasible) continue;
      sheet.refitSlot(slot);
      sheet.#open.putLeaf(slot, sheet.isFull(slot) ? closed : sheet.sumWithout(slot));
      if (slot % slotsPerStep === 0) yield;
    }
    sheet.#open.rebuild();
    sheet.#caughtUpTo = fleet.changedSlots.pass();
    return sheet;
  }

  get layout(): TreeLayout {
    return this.#layout;
  }

  /** The feasible slots that are not full and have no neighbours. */
  get open(): Tournament {
    return this.#open;
  }

  /** The slots with neighbours; empty unless a group is being placed. */
  get withNeighbours(): Tournament {
    return this.#withNeighbours;
  }

  /** The number of parts in every score of the sheet. */
  get terms(): number {
    return 1 + (this.#devices === undefined ? 0 : 1) + (this.#affinities === undefined ? 0 : 1);
  }

  /** By class of the tournament, the number of the target's value. */
  classValues(target: number): Int32Array {
    return this.#classValues[target]!;
  }

  /** Computes every slot again that changed since the last call. */
  *catchUp(): Steps<void> {
    const { changedSlots, nodes } = this.fleet;
    const touched = changedSlots.since(this.#caughtUpTo) ?? [...nodes.keys()];
    this.#caughtUpTo = changedSlots.pass();
    let looked = 0;
    for (const slot of touched) {
      if (this.failed[slot] !== feasible) continue;
      this.refitSlot(slot);
      this.restoreSlot(slot);
      if (++looked % slotsPerStep === 0) yield;
    }
  }

  /** Puts the slot into the tournament without neighbours. */
  restoreSlot(slot: number): void {
    this.#withNeighbours.set(slot, closed);
    this.#open.set(slot, this.isFull(slot) ? closed : this.sumWithout(slot));
  }

  isFull(slot: number): boolean {
    return this.#dimension[slot] !== fits;
  }

  /** The dimension that is short; `''`: the slot is not full. */
  dimensionAt(slot: number): string {
    return this.#dimensions.names[this.#dimension[slot]!]!;
  }

  /** The pack score of a slot that is not full. */
  packAt(slot: number): number {
    return this.#packs[slot]!;
  }

  /** The score of the device affinities; `undefined`: the group has none. */
  devicesAt(slot: number): number | undefined {
    return this.#devices?.[slot];
  }

  affinityAt(slot: number): number | undefined {
    return this.#affinities?.[slot];
  }

  sumWithout(slot: number): number {
    const sum = this.#nodeSum(slot);
    return this.#affinities === undefined ? sum : sum + this.#affinities[slot]!;
  }

  sumWith(slot: number, antiAffinity: number): number {
    const sum = this.#nodeSum(slot) + antiAffinity;
    return this.#affinities === undefined ? sum : sum + this.#affinities[slot]!;
  }

  /** The parts that depend on the node's free resources. */
  #nodeSum(slot: number): number {
    const pack = this.#packs[slot]!;
    return this.#devices === undefined ? pack : pack + this.#devices[slot]!;
  }

  /** By the name of each computed class of candidates, whether its nodes could run the group. */
  classVerdicts(): ReadonlyMap<string, boolean> {
    const names = this.fleet.classNames;
    const verdicts = [...this.#verdicts.entries()].filter(([, verdict]) => verdict !== undefined);
    const named = verdicts.map(([one, verdict]) => [names[one]!, verdict] as const);
    return new Map(named.sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** Whether some feasible slot is full. */
  get hasFull(): boolean {
    return this.#exhausted.some((count) => count > 0);
  }

  /** The number of full feasible slots, by dimension. */
  *exhausted(): Iterable<readonly [dimension: string, count: number]> {
    for (const [number, count] of this.#exhausted.entries()) {
      if (count > 0) yield [this.#dimensions.names[number]!, count];
    }
  }

  /** Computes again whether the slot is full, and its pack score. */
  refitSlot(slot: number): void {
    const dimension = this.#tryFit(slot);
    const before = this.#dimension[slot]!;
    this.#dimension[slot] = dimension;
    if (before !== fits) this.#exhausted[before]!--;
    if (dimension !== fits) this.#exhausted[dimension] = (this.#exhausted[dimension] ?? 0) + 1;
  }

  #tryFit(slot: number): number {
    const { fleet, shape } = this;
    const planned = fleet.plannedIfAny(slot);
    if (planned !== undefined || this.#needsExactFit(slot))
      return this.#tryFitExactly(slot, planned);
    const { used, capacity } = fleet;
    const { need } = shape;
    if (used.cpu[slot]! + need.cpu > capacity.cpu[slot]!) return this.#dimensions.of('cpu');
    if (used.memory[slot]! + need.memory > capacity.memory[slot]!) {
      return this.#dimensions.of('memory');
    }
    if (used.disk[slot]! + need.disk > capacity.disk[slot]!) return this.#dimensions.of('disk');
    this.#packs[slot] = packScoreOfShares(
      shape.algorithm,
      freeShare(used.cpu[slot]!, need.cpu, capacity.cpu[slot]!),
      freeShare(used.memory[slot]!, need.memory, capacity.memory[slot]!),
    );
    return fits;
  }

  #tryFitExactly(slot: number, known: PlannedNode | undefined): number {
    const { fleet, shape } = this;
    const planned = known ?? fleet.lookAt(slot);
    const fit = planned.fit(shape.ask);
    if (!fit.fits) return this.#dimensions.of(fit.dimension);
    this.#packs[slot] = packScore(shape.algorithm, planned.used, fit.need, planned.capacity);
    if (this.#devices !== undefined) this.#devices[slot] = fit.devices ?? 0;
    return fits;
  }

  /** Whether sums do not decide: with cores, devices or static ports, and when ports run low. */
  #needsExactFit(slot: number): boolean {
    const { cores, devices, networks } = this.shape.ask;
    if (cores > 0 || devices.length > 0) return true;
    if (networks.length === 0) return false;
    let asked = 0;
    for (const { network } of networks) {
      if ((network.ReservedPorts ?? []).length > 0) return true;
      asked += (network.DynamicPorts ?? []).length;
    }
    const { NodeResources, ReservedResources } = this.fleet.nodes[slot]!;
    const { MinDynamicPort, MaxDynamicPort } = NodeResources;
    const reserved = parsePortList(ReservedResources.Networks.ReservedHostPorts).size;
    const taken = reserved + this.fleet.occupancyAt(slot).ports.size;
    return MaxDynamicPort - MinDynamicPort + 1 - taken < asked;
  }

  /** Applies the rules to every node. */
  *#filterNodes(): Steps<void> {
    const { rules } = this.shape;
    const { nodes, classOf } = this.fleet;
    const verdicts: ClassVerdict[] = [];
    const readiness = rules.filter(({ scope }) => scope === 'readiness');
    const alone = [...rules.entries()].filter(([, { scope }]) => scope === 'node');
    for (let slot = 0; slot < nodes.length; slot++) {
      if (slot % slotsPerStep === 0) yield;
      const node = nodes[slot]!;
      if (!passesAll(readiness, node)) continue;
      const one = classOf[slot]!;
      let verdict = one < 0 ? undefined : verdicts[one];
      if (verdict === undefined) {
        verdict = verdictOf(rules, node);
        if (one >= 0) verdicts[one] = verdict;
      }
      if (verdict.unwanted === undefined || verdict.unwanted.name === 'datacenter') {
        this.counts.nodesInPool++;
      }
      if (verdict.unwanted !== undefined) continue;
      let { failed } = verdict;
      if (one >= 0) this.#verdicts[one] = failed === rules.length;
      for (const [at, rule] of alone) {
        if (at >= failed) break;
        if (!rule.passes(node)) failed = at;
      }
      this.failed[slot] = failed === rules.length ? feasible : failed;
      this.#countNode(node, rules[failed]);
    }
    this.#scoreAffinities();
  }

  #countNode({ Datacenter, NodeClass }: Node, failed: Rule | undefined): void {
    const { counts } = this;
    counts.candidates++;
    add(counts.available, Datacenter);
    if (failed === undefined) return;
    counts.filtered++;
    add(counts.constraints, failed.text);
    if (NodeClass !== '') add(counts.classes, NodeClass);
  }

  #scoreAffinities(): void {
    const { affinity, hasUniqueAffinity } = this.shape;
    const { nodes, classOf } = this.fleet;
    if (affinity === undefined || this.#affinities === undefined) return;
    const byClass: number[] = [];
    for (const [slot, node] of nodes.entries()) {
      if (this.failed[slot] !== feasible) continue;
      const one = hasUniqueAffinity ? -1 : classOf[slot]!;
      const score = byClass[one] ?? affinity(node);
      if (one >= 0) byClass[one] = score;
      this.#affinities[slot] = score;
    }
  }

  /** Makes a class for every combination of target values of the feasible slots. */
  #seedTournaments(): void {
    const { failed } = this;
    const classOf = new Int32Array(failed.length);
    for (let slot = 0; slot < failed.length; slot++)
      if (failed[slot] !== feasible) classOf[slot] = -1;
    let classes = 1;
    for (const { numberAt, values } of this.columns) {
      const numbers = new Map<number, number>();
      for (let slot = 0; slot < classOf.length; slot++) {
        const one = classOf[slot]!;
        if (one < 0) continue;
        const pair = one * (values.names.length + 1) + numberAt[slot]! + 1;
        const number = numbers.get(pair) ?? numbers.size;
        numbers.set(pair, number);
        classOf[slot] = number;
      }
      classes = Math.max(numbers.size, 1);
    }
    this.#classValues = this.columns.map(({ numberAt }) => {
      const valuesOf = new Int32Array(classes);
      for (let slot = 0; slot < classOf.length; slot++) {
        const one = classOf[slot]!;
        if (one >= 0) valuesOf[one] = numberAt[slot]!;
      }
      return valuesOf;
    });
    this.#layout = new TreeLayout(classOf, classes);
    this.#open = new Tournament(this.#layout);
    this.#withNeighbours = new Tournament(this.#layout);
  }
}

function passesAll(rules: readonly Rule[], node: Node): boolean {
  for (const rule of rules) if (!rule.passes(node)) return false;
  return true;
}

function verdictOf(rules: readonly Rule[], node: Node): ClassVerdict {
  const fails = (rule: Rule, scope: Rule['scope']) => rule.scope === scope && !rule.passes(node);
  const failed = rules.findIndex((rule) => fails(rule, 'class'));
  return {
    unwanted: rules.find((rule) => fails(rule, 'candidate')),
    failed: failed < 0 ? rules.length : failed,
  };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
