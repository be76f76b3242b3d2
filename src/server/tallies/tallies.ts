import { inSlices, takeSlice } from '../../base/slices.ts';
import { each, type Steps } from '../../base/steps.ts';
import { limits } from '../../model/limits.ts';
import type { Change, Snapshot, Stamps } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { AllocationTally } from './allocations.ts';
import { EvaluationTally } from './evaluations.ts';
import { DeploymentTally, JobTally, ServiceTally, UnplacedTally } from './jobs.ts';
import { HeldTally, NodeTally } from './nodes.ts';
import type { Tally } from './tally.ts';

const newTallies = () => ({
  jobs: new JobTally(),
  unplaced: new UnplacedTally(),
  allocations: new AllocationTally(),
  held: new HeldTally(),
  deployments: new DeploymentTally(),
  evaluations: new EvaluationTally(),
  nodes: new NodeTally(),
  services: new ServiceTally(),
});
export type TallySet = ReturnType<typeof newTallies>;

/**
 * Counts of rows for metrics. They are made from the whole state once, in slices, and follow its changes from then on, so
 * that reading them walks no rows.
 *
 * Invariants
 *  T1. The counts equal a count from scratch over the durable state.
 *  T2. Changes during the count from scratch are applied after it, in their order.
 *  T3. When the state is replaced as a whole, the counting begins again.
 */
export class Tallies {
  readonly #context: Pick<ServerContext, 'state' | 'world'>;
  readonly #unfollow: readonly (() => void)[];
  #counting: Counting;

  constructor(context: Pick<ServerContext, 'state' | 'world'>) {
    this.#context = context;
    const { state } = context;
    this.#counting = this.#begin();
    this.#unfollow = [
      state.onCommit((changes) => this.#counting.follow(changes)),
      state.onReplaced(() => {
        this.#counting.stop();
        this.#counting = this.#begin();
      }),
    ];
  }

  stop(): void {
    this.#counting.stop();
    for (const unfollow of this.#unfollow) unfollow();
  }

  /** Resolves when all is counted. */
  async read(): Promise<TallySet> {
    for (;;) {
      const counting = this.#counting;
      const tallies = await counting.done;
      if (counting === this.#counting) return tallies;
    }
  }

  #begin(): Counting {
    return new Counting(this.#context);
  }
}

/** A count of the state, from its beginning to the next replacement of the state. */
class Counting {
  readonly done: Promise<TallySet>;
  readonly #tallies = newTallies();
  readonly #byTable = new Map<string, Tally<Stamps>[]>();
  readonly #stopping = new AbortController();
  /** Changes that wait for the end of the count from scratch. */
  #waiting: (readonly Change[])[] | undefined = [];

  constructor({ state, world }: Pick<ServerContext, 'state' | 'world'>) {
    for (const tally of this.#all) {
      const { name } = tally.table;
      this.#byTable.set(name, [...(this.#byTable.get(name) ?? []), tally]);
    }
    const take = (step: () => boolean) => takeSlice(step, world.clock, limits.metrics);
    const steps = this.#countAll(state.read());
    this.done = inSlices(steps, take, world.timers, this.#stopping.signal).then(() => {
      for (const changes of this.#waiting ?? []) this.#apply(changes);
      this.#waiting = undefined;
      return this.#tallies;
    });
  }

  get #all() {
    return Object.values(this.#tallies) as unknown as readonly Tally<Stamps>[];
  }

  follow(changes: readonly Change[]): void {
    if (this.#waiting === undefined) this.#apply(changes);
    else this.#waiting.push(changes);
  }

  stop(): void {
    this.#stopping.abort();
  }

  *#countAll(snapshot: Snapshot): Steps<void> {
    for (const tally of this.#all) {
      yield* each(snapshot.table<Stamps, string>(tally.table).scan(), (row) => tally.load(row));
    }
  }

  #apply(changes: readonly Change[]): void {
    for (const { table, before, after } of changes) {
      for (const tally of this.#byTable.get(table) ?? []) tally.change(before, after);
    }
  }
}
