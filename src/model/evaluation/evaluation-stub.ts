import type { Evaluation } from './evaluation.ts';
import { type PresentedEvaluation, presentEvaluation } from './present.ts';

const stubFields = [
  'ID',
  'Namespace',
  'Priority',
  'Type',
  'TriggeredBy',
  'JobID',
  'NodeID',
  'DeploymentID',
  'Status',
  'StatusDescription',
  'WaitUntil',
  'NextEval',
  'PreviousEval',
  'BlockedEval',
  'CreateIndex',
  'ModifyIndex',
  'CreateTime',
  'ModifyTime',
] as const satisfies readonly (keyof Evaluation)[];

/** An evaluation in the list of related evaluations. Source: docs/behaviour/evaluations.md#statuses. */
export type EvaluationStub = Pick<PresentedEvaluation, (typeof stubFields)[number]>;

export function evaluationStub(evaluation: Evaluation): EvaluationStub {
  const presented = presentEvaluation(evaluation);
  const fields = stubFields.map((field) => [field, presented[field]]);
  return Object.fromEntries(fields) as unknown as EvaluationStub;
}

/**
 * The evaluations that led to an evaluation, that follow from it, or that wait in its place, step by step: at
 * most `most`, the oldest first. All are of the same job.
 */
export function relatedEvaluations(
  evaluation: Evaluation,
  ofJob: Iterable<Evaluation>,
  most: number,
): readonly Evaluation[] {
  const neighbours = new Map<string, Evaluation[]>();
  const byId = new Map<string, Evaluation>();
  const connect = (id: string, other: Evaluation) =>
    neighbours.set(id, [...(neighbours.get(id) ?? []), other]);
  for (const one of ofJob) byId.set(one.ID, one);
  for (const one of byId.values()) {
    for (const id of [one.NextEval, one.PreviousEval, one.BlockedEval]) {
      const other = byId.get(id);
      if (other === undefined) continue;
      connect(id, one);
      connect(one.ID, other);
    }
  }
  const found = new Map<string, Evaluation>([[evaluation.ID, evaluation]]);
  for (const { ID } of found.values()) {
    for (const other of neighbours.get(ID) ?? []) {
      if (found.size > most) break;
      if (!found.has(other.ID)) found.set(other.ID, other);
    }
  }
  found.delete(evaluation.ID);
  return [...found.values()].sort((left, right) => left.CreateIndex - right.CreateIndex);
}
