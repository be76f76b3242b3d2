/**
 * Mistakes that the product might have. Each is planted in it by `npm run sim -- --mistake NAME`, and
 * found by a checker in some life: which one depends on all of the product.
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
}

/** What heals a purge that was not carried out. */
const healing: Place = {
  file: 'src/server/nodes/report.ts',
  right: 'if (job === undefined) evaluateOrphans(transaction, world, moves);',
  wrong: '',
};

export const mistakes: readonly Mistake[] = [
  {
    name: 'a purge is canceled',
    places: [
      {
        file: 'src/server/jobs/stop.ts',
        right: 'const evaluation = isEvaluated(job)',
        wrong: 'const evaluation = isEvaluated(job) && !stop.purge',
      },
      healing,
    ],
    guarantee: 'what runs has a job',
  },
  {
    name: 'an evaluation that is over wins over an open one',
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
      healing,
    ],
    guarantee: "a job's status and summary say what is so",
  },
  {
    name: 'a new registration takes over what the one before ran',
    places: [
      {
        file: 'src/scheduler/reconcile/reconcile.ts',
        right: 'allocation.JobCreateIndex === active?.CreateIndex',
        wrong: 'active !== undefined',
      },
    ],
    guarantee: 'what runs has a job',
  },
];

export const mistakeNamed = (name: string): Mistake | undefined =>
  mistakes.find((one) => one.name === name);
