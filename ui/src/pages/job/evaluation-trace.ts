/** Evaluations as trees: each below the evaluation that led to it. */
import type { PresentedEvaluation } from '../../../../src/model/evaluation/present.ts';

export interface Step {
  readonly evaluation: PresentedEvaluation;
  readonly depth: number;
}

/** A first evaluation, and everything that followed from it, in the order of time. */
export interface Trace {
  readonly steps: readonly Step[];
  /** Of the newest step. */
  readonly lastIndex: number;
}

/** The newest first. An evaluation whose predecessor is gone, or not among them, begins a trace. */
export function tracesOf(evaluations: readonly PresentedEvaluation[]): readonly Trace[] {
  const byId = new Map(evaluations.map((one) => [one.ID, one]));
  const next = Map.groupBy(
    evaluations.filter(({ PreviousEval }) => byId.has(PreviousEval)),
    ({ PreviousEval }) => PreviousEval,
  );
  return evaluations
    .filter(({ PreviousEval }) => !byId.has(PreviousEval))
    .map((first) => {
      const steps = below(first, next);
      return {
        steps,
        lastIndex: steps.reduce(
          (last, { evaluation }) => Math.max(last, evaluation.CreateIndex),
          0,
        ),
      };
    })
    .sort((left, right) => right.lastIndex - left.lastIndex);
}

/** Without recursion, since a job that waits for room for days has a chain of thousands. */
function below(
  first: PresentedEvaluation,
  next: ReadonlyMap<string, readonly PresentedEvaluation[]>,
): readonly Step[] {
  const steps: Step[] = [];
  const waiting: Step[] = [{ evaluation: first, depth: 0 }];
  const seen = new Set<string>();
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    if (seen.has(step.evaluation.ID)) continue;
    seen.add(step.evaluation.ID);
    steps.push(step);
    const followers = (next.get(step.evaluation.ID) ?? []).toSorted(
      (left, right) => right.CreateIndex - left.CreateIndex,
    );
    for (const evaluation of followers) waiting.push({ evaluation, depth: step.depth + 1 });
  }
  return steps;
}
