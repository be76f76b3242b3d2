import { expect, test } from 'vitest';
import type { Job } from '../model/job/job.ts';
import { sharedJobs } from './shared-jobs.ts';

const job = (fields: Partial<Job> = {}): Job =>
  ({ Namespace: 'default', ID: 'web', Version: 1, Meta: { a: '1' }, ...fields }) as Job;

test('one copy of each job version is kept, also of known jobs; different jobs are all kept', () => {
  const known = job();
  const share = sharedJobs([known]);
  expect(share(job())).toBe(known);
  for (const other of [
    job({ Version: 2 }),
    job({ Namespace: 'batch' }),
    job({ ID: 'api' }),
    // From servers that have forgotten the first.
    job({ Meta: { a: '2' } }),
  ]) {
    expect(share(other)).toBe(other);
    expect(share({ ...other, Meta: { ...other.Meta } })).toBe(other);
  }
});
