/** The health of a log that several processes share, as this process knows it. */
export interface LogHealth {
  /** Epoch of the newest term that this process knows. */
  readonly term: number;
  /** Since the log last answered, this process or the one before it; `undefined`: never. */
  readonly contactMs: number | undefined;
  /** Since the state last had all that the log held: an answer of the log may tell of more. `undefined`: never. */
  readonly ageMs: number | undefined;
  /** Whether this process shows a copy of the state, as it has not read the log since its start. */
  readonly isUnconfirmed: boolean;
  /** Since the lease of this process was last renewed; `undefined`: it does not lead. */
  readonly leaseAgeMs: number | undefined;
  /** Whether this process does not try to lead, as nobody knows yet whether it has the root key of the cluster. */
  readonly isHeldBack: boolean;
  /** Why this process neither leads nor follows; `undefined`: it does. */
  readonly fault: Error | undefined;
  /** Why the log cannot be reached at the moment; `undefined`: it can. */
  readonly obstacle: Error | undefined;
  readonly isDiverged: boolean;
  readonly appends: AppendFigures;
  /** Size and version of the store, as it tells them; `undefined`: unknown. */
  readonly store: LogStoreHealth | undefined;
}

/** Appends of this process. */
export interface AppendFigures {
  readonly count: number;
  /** The time of all of them. */
  readonly totalMs: number;
  /** Of these, how many nobody knows the outcome of. */
  readonly unknown: number;
}

export interface LogStoreHealth {
  /** The member that tells; of several members the fullest one. */
  readonly member: string;
  readonly version: string;
  readonly bytes: number;
  readonly bytesInUse: number;
  readonly quotaBytes: number;
  /** Whether it refuses writes, as it has reached its quota; `undefined`: unknown. */
  readonly isOutOfSpace: boolean | undefined;
  /** Whether new jobs are refused. */
  readonly isFull: boolean;
}
