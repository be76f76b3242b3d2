/** The changes that a leader makes in etcd. Each has to be fenced: a leader of a former term may not make it. */
import type { Keys } from '../../src/state/engine/etcd/keys.ts';
import type { Leaving } from '../../src/state/engine/etcd/model.ts';

type Moment = (request: Leaving) => boolean;

export interface KindOfChange {
  readonly name: string;
  /** Requests with which such a change begins. */
  readonly moments: readonly Moment[];
}

export function kindsOfChange(keys: Keys): readonly KindOfChange[] {
  const [log, parts, chunks] = [keys.everyEntry.key, keys.everyPart.key, keys.everyChunk.key];
  const isCut = (key: string) => key === log || key === parts;
  const isSwept = (key: string) =>
    key.startsWith(chunks) || (key.startsWith(parts) && key !== parts);
  return [
    { name: 'an append', moments: [puts(log)] },
    { name: 'a part of a batch', moments: [puts(parts)] },
    { name: 'a chunk of a snapshot', moments: [puts(chunks)] },
    { name: 'the pointer to a snapshot', moments: [puts(keys.pointer)] },
    // The parts that lie before an index are deleted with the log.
    { name: 'a cut of the log', moments: [deletes(isCut)] },
    { name: 'a sweep', moments: [lists(chunks), deletes(isSwept)] },
    { name: 'a compaction', moments: [puts(keys.compaction), isCompaction] },
  ];
}

const puts =
  (prefix: string): Moment =>
  (request) =>
    request.kind === 'change' &&
    request.change.success.some((one) => one.kind === 'put' && one.key.startsWith(prefix));

const deletes =
  (isMeant: (key: string) => boolean): Moment =>
  (request) =>
    request.kind === 'change' &&
    request.change.success.some((one) => one.kind === 'delete' && isMeant(one.key));

/** The names of what may be swept are read first. */
const lists =
  (prefix: string): Moment =>
  (request) =>
    request.kind === 'range' && request.range.keysOnly === true && request.range.key === prefix;

const isCompaction: Moment = ({ kind }) => kind === 'compaction';
