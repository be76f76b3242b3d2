import { parentPort, workerData } from 'node:worker_threads';
import { present } from '../../base/assert.ts';
import { collectAll } from '../../base/collector.ts';
import type { Loaded } from './engine.ts';
import { sqliteLimits } from './limits.ts';
import type { Answer, Call } from './sqlite.ts';
import { failureOf } from './sqlite-errors.ts';
import type { SqliteOptions } from './sqlite-files.ts';
import { SqliteStore } from './sqlite-store.ts';

/** The database lives in this thread, so that no `fsync` holds up the main thread. */
const port = present(parentPort, 'this file runs as a worker');
let store: SqliteStore | undefined;

/** Once, after the start: this thread makes few objects, so that the collector would not begin by itself. */
let collecting: NodeJS.Timeout | undefined = setTimeout(() => {
  collecting = undefined;
  void collectAll({ isStart: true });
}, sqliteLimits.collectMs);
collecting.unref();

port.on('message', ({ id, request }: Call) => {
  try {
    const value = answer(request);
    port.postMessage({ id, value } satisfies Answer, buffersOf(value));
  } catch (error) {
    port.postMessage({ id, failure: failureOf(error) } satisfies Answer);
  }
  collecting?.refresh();
  if (request.kind === 'close') port.close();
  else checkpoint();
});

/** After the answer, while the main thread prepares the next batch. */
function checkpoint(): void {
  try {
    store?.checkpoint();
  } catch {
    // The write-ahead log stays whole. If the disk is at fault, the next append fails.
  }
}

function answer(request: Call['request']): unknown {
  if (request.kind === 'close') return store?.close();
  store ??= new SqliteStore(workerData as SqliteOptions);
  switch (request.kind) {
    case 'load':
      return store.loadNext();
    case 'written-by':
      return store.writtenBy();
    case 'append':
      return store.append(request.batch, request.expectedIndex);
    case 'begin-snapshot':
      return store.beginSnapshot(request.index);
    case 'add-part':
      return store.addPart(request.bytes);
    case 'finish-snapshot':
      return store.finishSnapshot();
    case 'compact':
      return store.compact();
  }
}

function buffersOf(value: unknown): ArrayBuffer[] {
  if (!Array.isArray(value)) return [];
  return (value as Loaded[]).map((loaded) =>
    loaded.kind === 'batch' ? loaded.batch.bytes.buffer : loaded.bytes.buffer,
  );
}
