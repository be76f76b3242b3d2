import { ask, gauges, type Target } from '../../bench/target.ts';
import { type JobState, judge, type Ledger } from './ledger.ts';

/** Compares the answers of a restarted agent's API with the ledger. Returns the faults. */

export interface Checked {
  readonly faults: readonly string[];
  /** Writes under way at the kill that took effect, and writes that did not. */
  readonly kept: number;
  readonly dropped: number;
}

interface JobRow {
  readonly ID: string;
  readonly Version: number;
  readonly Stop: boolean;
  readonly Meta: Readonly<Record<string, string>>;
  readonly CreateIndex: number;
  readonly JobModifyIndex: number;
}

export async function checkRestarted(target: Target, ledger: Ledger): Promise<Checked> {
  const faults: string[] = [];
  const highest = ledger.highestIndex;
  const { state_index: index = 0 } = await gauges(target);
  if (index < highest) faults.push(`the index is ${index}; ${highest} was acknowledged`);
  let kept = 0;
  let dropped = 0;
  await inTurns([...ledger.touched], async (id) => {
    const { pending } = ledger.entry(id);
    const checked = await checkJob(target, ledger, id);
    faults.push(...checked.faults.map((fault) => `job ${id} ${fault}`));
    if (pending === undefined) return;
    if (checked.outcome === 'pending') kept++;
    else dropped++;
  });
  faults.push(...(await checkList(target, ledger)));
  return { faults, kept, dropped };
}

interface CheckedJob {
  readonly outcome: 'acknowledged' | 'pending';
  readonly faults: readonly string[];
}

async function checkJob(target: Target, ledger: Ledger, id: string): Promise<CheckedJob> {
  const entry = ledger.entry(id);
  const row = await read<JobRow>(target, `/v1/job/${id}`);
  const found = row && stateOf(row);
  const verdict = judge(entry, found);
  ledger.settle(id, found);
  const faults: string[] = [];
  await inTurns(entry.evaluations, async (evaluation) => {
    const there = await read<{ JobID: string }>(target, `/v1/evaluation/${evaluation}`);
    if (there?.JobID !== id) faults.push(`lost its evaluation ${evaluation}`);
  });
  if ('fault' in verdict) return { outcome: 'acknowledged', faults: [...faults, verdict.fault] };
  const parts = await checkParts(target, row, id, verdict.outcome === 'pending');
  return { outcome: verdict.outcome, faults: [...faults, ...parts] };
}

const stateOf = ({ Meta, Version, Stop, JobModifyIndex }: JobRow): JobState => ({
  marker: Meta.marker ?? '',
  version: Version,
  stopped: Stop,
  jobModifyIndex: JobModifyIndex,
});

/** A write makes its job, summary and evaluation together, and a purge removes them together. */
async function checkParts(
  target: Target,
  row: JobRow | undefined,
  id: string,
  isUnanswered: boolean,
): Promise<string[]> {
  type Summary = { readonly JobCreateIndex: number; readonly Summary: object };
  type Evaluations = readonly { readonly JobModifyIndex: number }[];
  const summary = await read<Summary>(target, `/v1/job/${id}/summary`);
  const evaluations = await read<Evaluations>(target, `/v1/job/${id}/evaluations`);
  if (row === undefined) {
    const isLeft = summary !== undefined || evaluations !== undefined;
    return isLeft ? ['is purged, but parts of it are left'] : [];
  }
  const faults: string[] = [];
  if (summary?.JobCreateIndex !== row.CreateIndex || !('group' in summary.Summary)) {
    faults.push(`has no summary of its own: ${JSON.stringify(summary)}`);
  }
  // The evaluation of an acknowledged write is looked up by its id.
  const made = evaluations?.some((one) => one.JobModifyIndex === row.JobModifyIndex);
  if (isUnanswered && !made) faults.push('was changed without an evaluation');
  return faults;
}

/** The list has exactly the present jobs, in their present state. */
async function checkList(target: Target, ledger: Ledger): Promise<string[]> {
  type Stub = Omit<JobRow, 'Version'>;
  const faults: string[] = [];
  const path = '/v1/jobs?prefix=crash-&meta=true&per_page=10000';
  const listed = new Map<string, Stub>();
  for (let next: string | undefined = ''; next !== undefined; ) {
    const token: string = next === '' ? '' : `&next_token=${encodeURIComponent(next)}`;
    const reply = await ask(target, 'GET', path + token);
    if (reply.status !== 200) throw new Error(`the list was answered with ${reply.status}`);
    for (const stub of JSON.parse(reply.body.toString()) as Stub[]) listed.set(stub.ID, stub);
    next = reply.headers['x-scheduler-nexttoken'] as string | undefined;
  }
  for (const id of ledger.ids()) {
    const { state } = ledger.entry(id);
    const stub = listed.get(id);
    listed.delete(id);
    const found = stub && stateOf({ ...stub, Version: state?.version ?? 0 });
    const verdict = judge({ state, pending: undefined, evaluations: [] }, found);
    if ('fault' in verdict) faults.push(`job ${id}, listed, ${verdict.fault}`);
  }
  for (const id of listed.keys()) faults.push(`job ${id} is listed, but was never registered`);
  return faults;
}

async function read<T>(target: Target, path: string): Promise<T | undefined> {
  const reply = await ask(target, 'GET', path);
  if (reply.status === 404) return undefined;
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${reply.body}`);
  return JSON.parse(reply.body.toString()) as T;
}

/** Runs several at a time, enough to keep the server busy. */
async function inTurns<T>(things: readonly T[], run: (thing: T) => Promise<void>): Promise<void> {
  const left = things.values();
  const worker = async () => {
    for (const thing of left) await run(thing);
  };
  await Promise.all(Array.from({ length: Math.min(16, things.length) }, worker));
}

/** Checks that the running jobs still have the same allocations, and that these run. */
export async function checkRunning(target: Target, allocations: readonly string[]) {
  type Row = { readonly ClientStatus: string; readonly DesiredStatus: string };
  const faults: string[] = [];
  for (const id of allocations) {
    const reply = await ask(target, 'GET', `/v1/allocation/${id}`);
    if (reply.status === 404) {
      faults.push(`allocation ${id} is gone`);
      continue;
    }
    const value = JSON.parse(String(reply.body)) as Row;
    const is = `${value.DesiredStatus}/${value.ClientStatus}`;
    if (is !== 'run/running') faults.push(`allocation ${id} is ${is} instead of run/running`);
  }
  return faults;
}
