import type { Job } from '../../src/model/job/job.ts';
import { jobs } from '../../src/state/tables.ts';
import type { Checker } from './checker.ts';

/** A parameterized job has a single child for an idempotency token, however often it is dispatched. */
export const tokenDispatchesOnce = (): Checker => ({
  guarantee: 'an idempotency token dispatches once',
  committed(changes, _index, { account }, fault) {
    for (const { table, before, after } of changes) {
      const child = after as Job | undefined;
      if (table !== jobs.name || before !== undefined || child?.ParentID === undefined) continue;
      const { ID, ParentID, DispatchIdempotencyToken: token } = child;
      if (ParentID === '' || token === '') continue;
      for (const other of account.rows(jobs).values()) {
        const isSame = other.ParentID === ParentID && other.DispatchIdempotencyToken === token;
        if (isSame && other.ID !== ID) fault(`${token} dispatched ${ID} and ${other.ID}`);
      }
    }
  },
});
