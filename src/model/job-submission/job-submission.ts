import { type Model, ResponseOnly, stamps, Text, TextMap, Type, Whole } from '../schema.ts';

/**
 * The source of a job, for reference only. `JobIndex` is the job modify index of the version that it belongs
 * to. Source: docs/contract/jobs.md#records-of-a-job.
 */
export const JobSubmissionSchema = Type.Object({
  Format: Text(),
  JobIndex: ResponseOnly(Whole()),
  JobID: ResponseOnly(Text()),
  Namespace: ResponseOnly(Text()),
  Source: Text(),
  VariableFlags: TextMap(),
  Variables: Text(),
  Version: ResponseOnly(Whole()),
  ...stamps,
});
export interface JobSubmission extends Model<typeof JobSubmissionSchema> {}

/** Bytes that count against `limits.job.submissionBytesMax`. */
export function submissionBytes(
  submission: Pick<JobSubmission, 'Source' | 'Variables' | 'VariableFlags'>,
): number {
  const flags = Object.entries(submission.VariableFlags ?? {}).flat();
  const texts = [submission.Source, submission.Variables, ...flags];
  return texts.reduce((total, text) => total + Buffer.byteLength(text), 0);
}
