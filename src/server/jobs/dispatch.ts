import { invalid, refusal } from '../../model/errors.ts';
import { dispatchedChild } from '../../model/job/child.ts';
import {
  completeDispatch,
  type DispatchInput,
  type DispatchRequest,
  dispatchFaults,
  dispatchId,
  requestFaults,
} from '../../model/job/dispatch.ts';
import type { Job } from '../../model/job/job.ts';
import { isParameterized } from '../../model/job/job-rules.ts';
import { inNamespace, jobs } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { requireCapabilities } from '../namespaces/capabilities.ts';
import { type Born, registerChild } from './children.ts';
import { requireQueueRoom, requireStoreRoom } from './register.ts';

export interface Dispatch {
  readonly namespace: string;
  readonly jobId: string;
  readonly request: DispatchInput;
}

/** Source: docs/contract/jobs.md#dispatch-a-job, docs/behaviour/jobs.md#answers-of-writes. */
export interface Dispatched {
  readonly DispatchedJobID: string;
  /** `''`: the token had its child before, or the child is periodic. */
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobCreateIndex: number;
  readonly Index: number;
}

/**
 * Makes a child of a parameterized job. If there is a child with the same idempotency token, that
 * child is the answer. Source: docs/contract/jobs.md#dispatch-a-job.
 * @throws RosterError `invalid-body`, `job-id-mismatch`, `job-not-found`, `dispatch-refused`,
 * `job-not-allowed`, `queue-full`, `store-full`
 */
export async function dispatchJob(context: ServerContext, dispatch: Dispatch): Promise<Dispatched> {
  const { state, world } = context;
  const { namespace, jobId } = dispatch;
  requireQueueRoom(context);
  requireStoreRoom(context);
  const request = completeDispatch(dispatch.request);
  if (request.JobID !== '' && request.JobID !== jobId) {
    throw refusal('job-id-mismatch', { body: request.JobID, path: jobId });
  }
  const faults = requestFaults(request);
  const { value } = await state.write((transaction): Born => {
    const parent = transaction.table(jobs).get(...inNamespace(namespace, jobId));
    if (parent === undefined) {
      throw faults.length > 0
        ? invalid('invalid-body', faults)
        : refusal('job-not-found', { job: jobId, namespace });
    }
    const earlier = childWith(transaction, parent, request.IdempotencyToken);
    if (earlier !== undefined) return { job: earlier, evaluation: undefined };
    const reason = refusedDispatch(parent);
    if (reason !== undefined && faults.length === 0) {
      throw refusal('dispatch-refused', { job: jobId, reason });
    }
    const all = reason === undefined ? [...faults, ...dispatchFaults(parent, request)] : faults;
    if (all.length > 0) throw invalid('invalid-body', all);
    const id = freeId(transaction, context, parent, request);
    const child = dispatchedChild(parent, request, id, world.clock.nowMs());
    requireCapabilities(transaction, child);
    return registerChild(transaction, world, child, 'job-register');
  });
  const { job, evaluation } = value;
  return {
    DispatchedJobID: job.ID,
    EvalID: evaluation?.ID ?? '',
    EvalCreateIndex: evaluation?.CreateIndex ?? 0,
    JobCreateIndex: job.CreateIndex,
    Index: job.ModifyIndex,
  };
}

function childWith(
  transaction: Transaction,
  { Namespace, ID }: Job,
  token: string,
): Job | undefined {
  if (token === '') return undefined;
  const range = { prefix: inNamespace(Namespace, ID, token) };
  return transaction.table(jobs).by('dispatch').scan(range).next().value;
}

/** Source: docs/behaviour/jobs.md#dispatch. */
function refusedDispatch(job: Job): string | undefined {
  if (!isParameterized(job)) {
    return job.Dispatched ? 'it was itself dispatched' : 'it is not parameterized';
  }
  return job.Stop ? 'it is stopped' : undefined;
}

function freeId(
  transaction: Transaction,
  { world }: ServerContext,
  { Namespace, ID }: Job,
  { IdPrefixTemplate }: DispatchRequest,
): string {
  for (;;) {
    const random = world.ids.uuid().slice(0, 8);
    const id = dispatchId(ID, IdPrefixTemplate, world.clock.nowMs(), random);
    if (!transaction.table(jobs).has(...inNamespace(Namespace, id))) return id;
  }
}
