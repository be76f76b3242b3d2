/** A decider decides as the main thread does, whatever has happened before. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Ids } from '../../../base/ports.ts';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { drained } from '../../../base/steps.ts';
import {
  affinity,
  algorithm,
  constraint,
  nodeFields,
  spread,
} from '../../../scheduler/arbitrary-cluster.test-helper.ts';
import {
  makeEvaluation,
  makeGroup,
  makeJob,
  makeNode,
  makeTask,
} from '../../../scheduler/cluster.test-helper.ts';
import { schedule } from '../../../scheduler/schedule.ts';
import { type SchedulerConfiguration, schedulerDefaults } from '../../../scheduler/view.ts';
import { memoryState } from '../../../state/state.test-helper.ts';
import {
  allocations,
  allTables,
  inNamespace,
  jobs,
  jobVersions,
  nodes,
} from '../../../state/tables.ts';
import type { State, Transaction } from '../../../state/types.ts';
import { silentLog } from '../../context.ts';
import { clusterView } from '../cluster-view.ts';
import { applyPlan } from '../plans/apply.ts';
import { FedDecider } from './fed-decider.ts';
import { linkedDeciders } from './linked-decider.test-helper.ts';

const nodeIds = ['n01', 'n02', 'n03', 'n04'];
const jobIds = ['a', 'b', 'c'];

const move = fc.oneof(
  fc.record({
    kind: fc.constant('node' as const),
    id: fc.constantFrom(...nodeIds),
    fields: fc.record(nodeFields),
  }),
  fc.record({
    kind: fc.constant('job' as const),
    id: fc.constantFrom(...jobIds),
    type: fc.constantFrom('service', 'batch', 'system'),
    count: fc.integer({ min: 1, max: 5 }),
    cpu: fc.constantFrom(100, 300, 600),
    constraints: fc.array(constraint, { maxLength: 1 }),
    affinities: fc.array(affinity, { maxLength: 1 }),
    spreads: fc.array(spread, { maxLength: 1 }),
  }),
  fc.record({ kind: fc.constant('end' as const), at: fc.nat(9) }),
  fc.record({
    kind: fc.constant('decide' as const),
    id: fc.constantFrom(...jobIds),
    algorithm,
    isCommitted: fc.boolean(),
  }),
  fc.constant({ kind: 'die' as const }),
);

type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

/** Counts from the same number wherever it is told to. */
class Counting implements Ids {
  next = 0;
  uuid(): string {
    return `id-${this.next++}`;
  }
}

class Life {
  readonly #world = new SimulatedWorld(1);
  readonly #own = new Counting();
  readonly #other = new Counting();
  readonly #deciders = linkedDeciders({ ...this.#world, ids: this.#other });
  readonly #state: State;
  readonly #decider: FedDecider;
  #version = 0;

  constructor(state: State, world: SimulatedWorld) {
    this.#world = world;
    this.#deciders = linkedDeciders({ clock: world.clock, timers: world.timers, ids: this.#other });
    this.#state = state;
    this.#decider = new FedDecider({ state, world, log: silentLog, start: this.#deciders.start });
  }

  async make(move: Move): Promise<void> {
    if (move.kind === 'node') {
      const node = { ...makeNode(move.id, move.fields), SecretHash: move.id };
      this.#write((transaction) => transaction.table(nodes).put(node));
    } else if (move.kind === 'job') this.#registerJob(move);
    else if (move.kind === 'end') this.#endAllocation(move.at);
    else if (move.kind === 'die') for (const one of this.#deciders.running) one.kill();
    else await this.#compareDecisions(move);
  }

  #registerJob({ id, type, count, cpu, constraints, affinities, spreads }: Move & { kind: 'job' }) {
    const isEverywhere = type === 'system';
    const group = makeGroup({
      ...(!isEverywhere && { Count: count }),
      Tasks: [makeTask({ Resources: { CPU: cpu } })],
    });
    const made = makeJob({
      ID: id,
      Type: type,
      TaskGroups: [group],
      Datacenters: ['*'],
      NodePool: 'all',
      Constraints: constraints,
      ...(!isEverywhere && { Affinities: affinities, Spreads: spreads }),
    });
    const Version = this.#version++;
    this.#write((transaction) => {
      const { index } = transaction;
      const job = transaction.table(jobs).put({ ...made, Version, JobModifyIndex: index });
      transaction.table(jobVersions).put(job);
    });
  }

  #endAllocation(at: number): void {
    this.#write((transaction) => {
      const table = transaction.table(allocations);
      const one = [...table.scan()][at];
      if (one !== undefined) table.put({ ...one, ClientStatus: 'failed' });
    });
  }

  async #compareDecisions({
    id,
    algorithm,
    isCommitted,
  }: Move & { kind: 'decide' }): Promise<void> {
    // A decider needs time to follow.
    await this.#world.advance(10_000);
    this.#touchNodes();
    const configuration: SchedulerConfiguration = { ...schedulerDefaults, algorithm };
    const job = this.#state
      .head()
      .table(jobs)
      .get(...inNamespace('default', id));
    const evaluation = makeEvaluation({ ID: this.#own.uuid(), JobID: id, Type: job?.Type });
    this.#other.next = this.#own.next;
    const { index } = this.#state.head();
    const asked = { nowMs: this.#world.clock.nowMs(), attempt: 1 };
    const answer = this.#decider.decide({ ...asked, index, evaluation, configuration });
    // A write after the question does not show in the answer.
    const view = clusterView(this.#state.head(), configuration);
    this.#touchNodes();
    await this.#world.advance(0);
    const expected = schedule(view, evaluation, { ...asked, ids: this.#own });
    expect(drained((await answer)!)).toEqual(expected);
    if (isCommitted) {
      this.#write((transaction) => applyPlan(transaction, this.#world, expected.plan));
    }
  }

  #touchNodes(): void {
    this.#write((transaction) => {
      const table = transaction.table(nodes);
      for (const node of table.scan())
        table.put({ ...node, Meta: { ...node.Meta, at: `${node.ModifyIndex}` } });
    });
  }

  #write(run: (transaction: Transaction) => unknown): void {
    void this.#state.write(run);
  }
}

test('a decider decides as the main thread would, and shares no more than messages', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 30 }), async (moves) => {
      const world = new SimulatedWorld(1);
      const state = await memoryState(allTables, world);
      const life = new Life(state, world);
      for (const one of moves) await life.make(one);
    }),
    { numRuns: 150 },
  );
});
