import { instantText } from '../../base/instant.ts';
import { type Model, Moment, Type } from '../schema.ts';
import { type Evaluation, EvaluationSchema } from './evaluation.ts';

/** An evaluation as it is shown. */
export const PresentedEvaluationSchema = Type.Object({
  ...EvaluationSchema.properties,
  WaitUntil: Moment('The earliest time of the evaluation; in the year 1: at once.'),
});
export interface PresentedEvaluation extends Model<typeof PresentedEvaluationSchema> {}

export const presentEvaluation = (evaluation: Evaluation): PresentedEvaluation => ({
  ...evaluation,
  WaitUntil: instantText(evaluation.WaitUntil),
});
