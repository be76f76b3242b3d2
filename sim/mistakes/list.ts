/**
 * Mistakes that the product might have. Each is planted in it by `npm run sim -- --mistake NAME`, and
 * found by a checker: `mistakes.test.ts` lives the life that shows it.
 */
/** Where it is planted: what stands there once, and what stands there instead. */
export interface Place {
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
}

export interface Mistake {
  readonly name: string;
  readonly places: readonly Place[];
  /** Whose checker finds it. */
  readonly guarantee: string;
  /** In the life of this seed, with ten machines and half an hour. */
  readonly seed: number;
}

export const mistakes = [
  {
    name: 'a purge is canceled',
    // Either of the two would save it.
    places: [
      {
        file: 'src/server/evaluations/dispatcher.ts',
        right: 'this.cancel(this.broker.end(endedBy(changes)), superseded);',
        wrong: '',
      },
      {
        file: 'src/server/evaluations/broker.ts',
        right: 'evaluation.CreateIndex > CreateIndex;',
        wrong: 'false;',
      },
    ],
    guarantee: 'what runs has a job',
    seed: 3,
  },
  {
    name: 'a purge has nothing stopped',
    places: [
      {
        file: 'src/server/jobs/stop.ts',
        right: 'const evaluation = isEvaluated(job)',
        wrong: 'const evaluation = isEvaluated(job) && !stop.purge',
      },
    ],
    guarantee: 'what runs has a job',
    seed: 1,
  },
  {
    name: 'a new registration takes over what the one before ran',
    places: [
      {
        file: 'src/scheduler/reconcile.ts',
        right: 'allocation.JobCreateIndex === active?.CreateIndex',
        wrong: 'active !== undefined',
      },
    ],
    guarantee: 'what runs has a job',
    seed: 20,
  },
] as const satisfies readonly Mistake[];

export const mistakeNamed = (name: string): Mistake | undefined =>
  mistakes.find((one) => one.name === name);
