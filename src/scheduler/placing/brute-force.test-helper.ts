import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { type Amounts, type Held, handedOn, heldBy, Scan } from './brute-force-scan.test-helper.ts';

type Kind = 'reschedule' | 'lost' | 'new' | 'update' | 'migrate';

export interface Asked {
  readonly kind: Kind;
  readonly previous: Allocation | undefined;
}

export class BruteForce {
  readonly #job: Job;
  readonly #nodes: readonly Node[];
  readonly #algorithm: 'binpack' | 'spread';
  #held: readonly Held[];
  /** Nodes that an allocation left in this plan: their values stay in use. */
  readonly #left: { readonly node: string; readonly group: string }[] = [];

  constructor(
    job: Job,
    nodes: readonly Node[],
    allocations: readonly Allocation[],
    algorithm: 'binpack' | 'spread',
  ) {
    this.#job = job;
    this.#nodes = nodes;
    this.#algorithm = algorithm;
    this.#held = allocations.map((one) => heldBy(one, job));
  }

  /** Stops an allocation that the plan stops in any case. */
  stop(id: string): void {
    this.#held = this.#held.map((one) => (one.id === id ? this.#markLeft(one) : one));
  }

  /** The right node for the request, and its score; `undefined`: no node is open. */
  choose(
    group: TaskGroup,
    asked: Asked,
  ): { readonly id: string; readonly score: number } | undefined {
    const { previous } = asked;
    const scan = this.#scan(group, asked);
    const { Sticky, Migrate } = group.EphemeralDisk;
    const home = this.#nodes.find((node) => node.ID === previous?.NodeID);
    if ((Sticky || Migrate) && home !== undefined && scan.isOpen(home)) {
      return { id: home.ID, score: scan.score(home) };
    }
    let best: { id: string; score: number } | undefined;
    for (const node of this.#nodes) {
      if (!scan.isOpen(node)) continue;
      const score = scan.score(node);
      if (best === undefined || score > best.score) best = { id: node.ID, score };
    }
    return best;
  }

  /** Removes these allocations. */
  without(ids: readonly string[]): BruteForce {
    const other = new BruteForce(this.#job, this.#nodes, [], this.#algorithm);
    other.#held = this.#held.filter((one) => !ids.includes(one.id));
    other.#left.push(...this.#left);
    return other;
  }

  isOpen(group: TaskGroup, asked: Asked, node: Node): boolean {
    return this.#scan(group, asked).isOpen(node);
  }

  /** The parts of the score. */
  scoresOn(group: TaskGroup, asked: Asked, node: Node): readonly number[] {
    return this.#scan(group, asked).scores(node);
  }

  /** By how much the request would exceed the capacity. */
  excess(group: TaskGroup, asked: Asked, node: Node): Amounts {
    return this.#scan(group, asked).excess(node);
  }

  /** The number of open nodes for the request. */
  openNodes(group: TaskGroup, asked: Asked): number {
    const scan = this.#scan(group, asked);
    return this.#nodes.filter((node) => scan.isOpen(node)).length;
  }

  #scan(group: TaskGroup, { kind, previous }: Asked): Scan {
    const leaver = kind === 'update' || kind === 'migrate' ? previous?.ID : undefined;
    const events = previous?.RescheduleTracker?.Events ?? [];
    const failed =
      kind === 'reschedule' && previous !== undefined
        ? [previous.NodeID, ...events.map((event) => event.PrevNodeID)]
        : [];
    return new Scan({
      job: this.#job,
      group,
      nodes: this.#nodes,
      algorithm: this.#algorithm,
      held: this.#held,
      left: this.#left,
      leaver,
      failed: new Set(failed),
    });
  }

  /** Records a real placement. Its predecessor goes on until its node reports the end. */
  placed({ kind, previous }: Asked, allocation: Allocation): void {
    const isReplacement = kind === 'update' || kind === 'migrate';
    const before = this.#held.find((one) => one.id === previous?.ID);
    if (isReplacement && before?.counts) this.stop(before.id);
    const held = heldBy(allocation, this.#job);
    const room = isReplacement && before?.node === held.node ? this.#handedOn(before) : undefined;
    this.#held = [
      ...this.#held,
      {
        ...held,
        cpu: Math.max(held.cpu - (room?.cpu ?? 0), 0),
        memory: Math.max(held.memory - (room?.memory ?? 0), 0),
        disk: Math.max(held.disk - (room?.disk ?? 0), 0),
      },
    ];
  }

  /** Whether a core, port or piece has a holder other than the predecessor. */
  isShared({ kind, previous }: Asked, allocation: Allocation): boolean {
    const mine = heldBy(allocation, this.#job);
    const before = this.#held.find((one) => one.id === previous?.ID);
    const isReplacement = kind === 'update' || kind === 'migrate';
    const giver = isReplacement && before?.node === mine.node ? this.#handedOn(before) : undefined;
    return this.#held
      .filter((one) => one.node === mine.node && one.occupies && one !== giver)
      .some(
        (one) =>
          one.cores.some((core) => mine.cores.includes(core)) ||
          one.ports.some((port) => mine.ports.includes(port)) ||
          one.pieces.some((piece) => mine.pieces.includes(piece)),
      );
  }

  #handedOn(before: Held): Held | undefined {
    return handedOn(before, this.#held);
  }

  #markLeft(one: Held): Held {
    if (one.ours && one.counts) this.#left.push({ node: one.node, group: one.group });
    return { ...one, counts: false };
  }
}
