/**
 * The expected state after a crash: a job is as its last acknowledged write left it, or as the
 * write under way at the kill would leave it, and nothing in between.
 */

/** A job as a client sees it. */
export interface JobState {
  /** In the job's `Meta`; different for every registration. */
  readonly marker: string;
  readonly version: number;
  readonly stopped: boolean;
  readonly jobModifyIndex: number;
}

export type Write =
  | { readonly kind: 'register'; readonly marker: string }
  /** The same registration again: a new evaluation, but no new version. */
  | { readonly kind: 'repeat' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'purge' };

/** The answer to a write. */
export interface Acknowledgement {
  readonly EvalID: string;
  readonly JobModifyIndex: number;
  readonly Index: number;
}

export interface Entry {
  /** After the last acknowledged write; `undefined`: there is no such job. */
  readonly state: JobState | undefined;
  /** Sent but not answered. */
  readonly pending: Write | undefined;
  /** Evaluations of acknowledged writes since the last check. */
  readonly evaluations: readonly string[];
}

const nothing: Entry = { state: undefined, pending: undefined, evaluations: [] };

export class Ledger {
  readonly #entries = new Map<string, Entry>();
  /** Jobs written since the last check. */
  readonly #touched = new Set<string>();
  #acknowledged = 0;
  #highestIndex = 0;

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The highest index of all acknowledged writes. */
  get highestIndex(): number {
    return this.#highestIndex;
  }

  get touched(): ReadonlySet<string> {
    return this.#touched;
  }

  entry(id: string): Entry {
    return this.#entries.get(id) ?? nothing;
  }

  /** Every job that was ever written. */
  ids(): IterableIterator<string> {
    return this.#entries.keys();
  }

  send(id: string, pending: Write): void {
    this.#entries.set(id, { ...this.entry(id), pending });
    this.#touched.add(id);
  }

  acknowledge(id: string, answer: Acknowledgement): void {
    const { state, pending, evaluations } = this.entry(id);
    this.#entries.set(id, {
      state: after(state, pending!, answer.JobModifyIndex),
      pending: undefined,
      evaluations: [...evaluations, answer.EvalID],
    });
    this.#acknowledged++;
    this.#highestIndex = Math.max(this.#highestIndex, answer.Index);
  }

  /** Takes over the found state of a job; a purged job is forgotten. */
  settle(id: string, found: JobState | undefined): void {
    this.#touched.delete(id);
    if (found === undefined) this.#entries.delete(id);
    else this.#entries.set(id, { ...nothing, state: found });
  }
}

/** The job after a write. */
export function after(
  state: JobState | undefined,
  write: Write,
  jobModifyIndex: number,
): JobState | undefined {
  if (write.kind === 'purge') return undefined;
  if (write.kind === 'repeat') return state;
  // A stopped job stays as it is.
  if (write.kind === 'stop' && state?.stopped) return state;
  const version = state === undefined ? 0 : state.version + 1;
  if (write.kind === 'stop') return { ...state!, version, stopped: true, jobModifyIndex };
  return { marker: write.marker, version, stopped: false, jobModifyIndex };
}

/** Explains the found state, or returns the text of a fault when it is impossible. */
export function judge(
  entry: Entry,
  found: JobState | undefined,
): { readonly outcome: 'acknowledged' | 'pending' } | { readonly fault: string } {
  if (isSame(entry.state, found)) return { outcome: 'acknowledged' };
  const { state, pending } = entry;
  if (pending !== undefined) {
    const index = found?.jobModifyIndex ?? 0;
    const isNewer = found === undefined || index > (state?.jobModifyIndex ?? 0);
    if (isNewer && isSame(after(state, pending, index), found)) return { outcome: 'pending' };
  }
  const under = pending === undefined ? 'none' : JSON.stringify(pending);
  return {
    fault: `is ${show(found)}, was acknowledged as ${show(state)}; write under way: ${under}`,
  };
}

const isSame = (left: JobState | undefined, right: JobState | undefined): boolean =>
  left === undefined || right === undefined
    ? left === right
    : left.marker === right.marker &&
      left.version === right.version &&
      left.stopped === right.stopped &&
      left.jobModifyIndex === right.jobModifyIndex;

const show = (state: JobState | undefined): string =>
  state === undefined ? 'not there' : JSON.stringify(state);
