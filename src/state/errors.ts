export type StateErrorCode =
  | 'writes-closed'
  | 'write-queue-full'
  | 'state-corrupted'
  | 'state-format-unknown'
  | 'form-unfinished'
  | 'data-directory-unusable'
  | 'data-directory-in-use'
  | 'data-directory-full'
  | 'fenced'
  | 'not-leading'
  | 'outcome-unknown'
  | 'diverged'
  | 'log-cut'
  | 'log-unreachable'
  | 'store-moved'
  | 'store-unfinished'
  | 'move-refused';

/** An operating error of the state. A bug is an `AssertionError` instead. */
export class StateError extends Error {
  override readonly name: string = 'StateError';
  readonly code: StateErrorCode;

  constructor(code: StateErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** An append failed, or the state was closed: it takes no more writes. Reads go on. */
export class WritesClosed extends StateError {
  override readonly name = 'WritesClosed';

  constructor(reason: string, cause?: unknown) {
    super('writes-closed', `writes are closed: ${reason}`, cause);
  }
}

/** Too many writes wait to become durable. The write did not run; it may be sent again later. */
export class WriteQueueFull extends StateError {
  override readonly name = 'WriteQueueFull';

  constructor(writes: number, bytes: number) {
    super('write-queue-full', `too many writes wait for the disk: ${writes} (${bytes} bytes)`);
  }
}

/** The store is damaged. `place` names the damaged batch, part or file. */
export class StateCorrupted extends StateError {
  override readonly name = 'StateCorrupted';
  readonly place: string;
  readonly fault: string;

  constructor(place: string, fault: string, cause?: unknown) {
    super('state-corrupted', `the stored state is damaged at ${place}: ${fault}`, cause);
    this.place = place;
    this.fault = fault;
  }
}

/** This version of the program cannot read the store, which another version wrote. */
export class StateFormatUnknown extends StateError {
  override readonly name = 'StateFormatUnknown';

  constructor(message: string) {
    super('state-format-unknown', message);
  }
}

/** Some server does not read this table, or not in this version yet. Nothing was written. */
export class FormUnfinished extends StateError {
  override readonly name = 'FormUnfinished';
  readonly table: string;

  constructor(table: string) {
    super('form-unfinished', `some server does not read the table ${table} in its new form yet`);
    this.table = table;
  }
}

/** The data directory cannot be used: not a directory, not writable, unreadable. */
export class DataDirectoryUnusable extends StateError {
  override readonly name = 'DataDirectoryUnusable';

  constructor(directory: string, fault: string, cause?: unknown) {
    super('data-directory-unusable', `cannot use the data directory ${directory}: ${fault}`, cause);
  }
}

/** Another process holds the data directory. */
export class DataDirectoryInUse extends StateError {
  override readonly name = 'DataDirectoryInUse';

  constructor(directory: string, pid: number | undefined) {
    const holder = pid === undefined ? 'another process' : `another process (pid ${pid})`;
    super('data-directory-in-use', `the data directory ${directory} is in use by ${holder}`);
  }
}

/** The disk, or the quota on it, is full. */
export class DataDirectoryFull extends StateError {
  override readonly name = 'DataDirectoryFull';

  constructor(directory: string, cause?: unknown) {
    super('data-directory-full', `no space is left for the data directory ${directory}`, cause);
  }
}

/** This process does not lead, or no longer leads. The write is not stored and never will be. */
export class NotLeading extends StateError {
  override readonly name = 'NotLeading';

  constructor(cause?: unknown) {
    super('not-leading', 'this server does not lead: another one takes writes, if any', cause);
  }
}

/** The log did not answer an append: the writes of the batch may be stored, now or later. */
export class OutcomeUnknown extends StateError {
  override readonly name = 'OutcomeUnknown';

  constructor(cause?: unknown) {
    super('outcome-unknown', 'the log did not answer: the write may be stored or not', cause);
  }
}

/** Another leader has taken over the log: the batch is not in it and never will be. */
export class Fenced extends StateError {
  override readonly name = 'Fenced';

  constructor(message: string, cause?: unknown) {
    super('fenced', message, cause);
  }
}

/** The log differs from what this process has applied: it is another log, or an older state of it. */
export class Diverged extends StateError {
  override readonly name = 'Diverged';
  /** Each says of what cluster, index or hash: `own` of what this process has applied, `found` of the log. */
  readonly own: string;
  readonly found: string;

  constructor(own: string, found: string) {
    super(
      'diverged',
      `the log has diverged: this server has applied ${own}, the log ${found} (see "roster operator recover --help")`,
    );
    this.own = own;
    this.found = found;
  }
}

/** This process was away for so long that the log no longer has what follows its last batch. */
export class LogCut extends StateError {
  override readonly name = 'LogCut';
  /** Of the last batch that was applied. */
  readonly index: number;

  constructor(index: number) {
    super(
      'log-cut',
      `the log no longer has the batches after index ${index}: start this server again, so that it loads a snapshot`,
    );
    this.index = index;
  }
}

/** Nobody answers where the log is kept. */
export class LogUnreachable extends StateError {
  override readonly name = 'LogUnreachable';

  constructor(where: string, cause?: unknown) {
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    super('log-unreachable', `the log cannot be read from ${where}${reason}`, cause);
  }
}

/** The state of this store was moved to another store, which goes on from it. */
export class StoreMoved extends StateError {
  override readonly name = 'StoreMoved';

  constructor(where: string, to: string) {
    super(
      'store-moved',
      `${where} is sealed: its state was moved to ${to}. Start the agent with that engine, or move the state back with "roster operator engine migrate"`,
    );
  }
}

/** The state of another store is being moved to this one, or was until the move was interrupted. */
export class StoreUnfinished extends StateError {
  override readonly name = 'StoreUnfinished';

  constructor(where: string, from: string) {
    super(
      'store-unfinished',
      `${where} holds an unfinished copy of ${from}: finish it with "roster operator engine migrate"`,
    );
  }
}

/** The state is not moved, or the log not recovered. */
export class MoveRefusal extends StateError {
  override readonly name = 'MoveRefusal';

  constructor(message: string, cause?: unknown) {
    super('move-refused', message, cause);
  }
}
