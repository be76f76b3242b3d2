import type { AnswerOf } from '../contract/endpoint.ts';
import type { explanationEndpoints } from '../contract/explanation.ts';
import type { jobEndpoints } from '../contract/job.ts';
import type { Deployment } from '../model/deployment/deployment.ts';
import { callsOf } from './calls.ts';
import { ApiError, type UnplacedGroup, WaitError } from './errors.ts';
import type { Requester } from './requester.ts';
import { byStatus, placeOf, unreachable, type WaitOptions, waitUntil, withinTime } from './wait.ts';
import { watch } from './watch.ts';

type Contract = typeof jobEndpoints | typeof explanationEndpoints;
type Job = AnswerOf<(typeof jobEndpoints)['read']>;
type Allocations = AnswerOf<(typeof jobEndpoints)['allocations']>;

/** The newest known state of a job. */
interface Seen {
  job?: Job;
  allocations?: Allocations;
}

/**
 * Resolves with the running allocations of the job's newest version once every group has its count, or, for a
 * system job, once every allocation runs. Rejects with `WaitError` if the job has ended or takes too long; its
 * `unplaced` then tells why allocations are not placed.
 */
export async function waitUntilRunning(
  requester: Requester,
  id: string,
  options: WaitOptions = {},
): Promise<Allocations> {
  const { read } = callsOf<Contract>(requester);
  const place = placeOf(options);
  const seen: Seen = {};
  const run = async ({ signal }: { readonly signal: AbortSignal }): Promise<Allocations> => {
    const found = Promise.withResolvers<Allocations>();
    const follow = async <T>(values: AsyncIterable<T>, put: (value: T) => void): Promise<never> => {
      for await (const value of values) {
        put(value);
        const running = runningOf(seen);
        if (running !== undefined) found.resolve(running);
      }
      throw new Error('a watch never ends by itself');
    };
    const path = { job_id: id };
    const jobs = watch((of) => read('GET /v1/job/:job_id+', path, { ...of, ...place }), { signal });
    const allocations = watch(
      (of) => read('GET /v1/job/:job_id+/allocations', path, { ...of, ...place }),
      { signal },
    );
    return Promise.race([
      found.promise,
      follow(jobs, (job) => {
        seen.job = job;
      }),
      follow(allocations, (list) => {
        seen.allocations = list;
      }),
    ]);
  };
  const late = async (time: string): Promise<WaitError> => {
    const unplaced = await unplacedGroups(requester, id, options);
    const reasons = unplaced.map(({ group, reason }) => ` Group "${group}": ${reason}`).join('');
    const sentence = `The job "${id}" does not run after ${time}: ${countsOf(seen)}.${reasons}`;
    return new WaitError('timeout', sentence, { last: seen.job, unplaced });
  };
  return withinTime(requester, options, { run, late });
}

/**
 * Resolves when the newest version, or the given one, is deployed: its deployment is successful. Rejects with
 * `WaitError` if the deployment fails, is cancelled, or takes too long.
 */
export async function waitUntilDeployed(
  requester: Requester,
  id: string,
  { version, ...options }: WaitOptions & { readonly version?: number | undefined } = {},
): Promise<Deployment> {
  const { read } = callsOf<Contract>(requester);
  const path = { job_id: id };
  const newest = async () => {
    const { signal } = options;
    const { value } = await read('GET /v1/job/:job_id+', path, { ...placeOf(options), signal });
    return value.Version;
  };
  const wanted = version ?? (await newest());
  const judge = byStatus<Deployment>('deployment', 'successful', ['failed', 'cancelled']);
  return waitUntil<readonly Deployment[], Deployment>(
    requester,
    {
      read: (of) => read('GET /v1/job/:job_id+/deployments', path, of),
      judge: (deployments) => {
        const found = deployments.find(({ JobVersion }) => JobVersion === wanted);
        return found === undefined ? { kind: 'not-yet' } : judge(found);
      },
      unmet: (deployments = []) => {
        const found = deployments.find(({ JobVersion }) => JobVersion === wanted);
        const how = found === undefined ? 'has no deployment' : `is ${found.Status}`;
        return `Version ${wanted} of the job "${id}" ${how}, and is not deployed`;
      },
    },
    options,
  );
}

/** `undefined`: not all of it runs yet. @throws WaitError if it never will */
function runningOf({ job, allocations }: Seen): Allocations | undefined {
  if (job === undefined || allocations === undefined) return undefined;
  const { ID, Stop, Status, StatusDescription } = job;
  if (Stop) throw unreachable(`The job "${ID}" is stopped.`, job);
  if (Status === 'dead') {
    const why = StatusDescription === '' ? '' : `: ${StatusDescription}`;
    throw unreachable(`The job "${ID}" has ended${why}.`, job);
  }
  const current = allocations.filter((one) => isCurrent(job, one));
  const running = current.filter(({ ClientStatus }) => ClientStatus === 'running');
  if (isOnEveryNode(job)) {
    return current.length > 0 && running.length === current.length ? running : undefined;
  }
  const isWhole = (job.TaskGroups ?? []).every(
    ({ Name, Count }) => running.filter(({ TaskGroup }) => TaskGroup === Name).length >= Count,
  );
  return isWhole ? running : undefined;
}

const isOnEveryNode = ({ Type }: Job): boolean => Type === 'system' || Type === 'sysbatch';

const isCurrent = ({ Version }: Job, one: Allocations[number]): boolean =>
  one.JobVersion === Version && one.DesiredStatus === 'run';

function countsOf({ job, allocations = [] }: Seen): string {
  if (job === undefined) return 'nothing is known of it';
  const running = allocations.filter(
    (one) => isCurrent(job, one) && one.ClientStatus === 'running',
  );
  const groups = (job.TaskGroups ?? []).map(({ Name, Count }) => {
    const number = running.filter(({ TaskGroup }) => TaskGroup === Name).length;
    return isOnEveryNode(job) ? `"${Name}" has ${number}` : `"${Name}" has ${number} of ${Count}`;
  });
  return `${groups.join(', ')} running`;
}

/** Empty if the reasons cannot be read. */
async function unplacedGroups(
  requester: Requester,
  id: string,
  options: WaitOptions,
): Promise<readonly UnplacedGroup[]> {
  const { read } = callsOf<Contract>(requester);
  try {
    const { value } = await read('GET /v1/job/:job_id+/why-not', { job_id: id }, placeOf(options));
    return (value.Groups ?? []).map(({ TaskGroup, Summary, Reason }) => ({
      group: TaskGroup,
      summary: Summary,
      reason: Reason === '' ? Summary : Reason,
    }));
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
