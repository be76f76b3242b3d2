import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * V8's collector, which programs can begin only if a flag is set as their context is made. `bin/roster` sets it for the
 * main thread of an agent; elsewhere the function comes with another context, a sixth of a megabyte.
 */
export function garbageCollector(): NodeJS.GCFunction {
  if (globalThis.gc !== undefined) return globalThis.gc;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** Collections that compiled code outlives without being run. By itself V8 keeps the code of six, and none begins at rest. */
const keptBy = { v8: 6, collectAll: 3, collectStart: 1 } as const;

/**
 * Lets machine code of functions go that rarely run. Flags hold for all threads, and this flag is never taken back: V8 reads
 * it as a marking begins and again as it ends. A thread that marks meanwhile, and finds the flag set at first and then not
 * set, frees code that it goes on to use, and V8 ends the process. In the other order nothing is lost.
 */
const collectsCode = '--flush-baseline-code';

/**
 * Collects all garbage of this thread, and gives its pages back. With it goes compiled code that has not run since the
 * last call; `isStart` takes all code, of which most has run once, as the thread started. V8 compiles a function again when it
 * is called.
 */
export async function collectAll({ isStart }: { readonly isStart: boolean }): Promise<void> {
  const collect = garbageCollector();
  setFlagsFromString(`--bytecode-old-age=${isStart ? keptBy.collectStart : keptBy.collectAll}`);
  setFlagsFromString(collectsCode);
  try {
    // Without the stack of a caller. Each such call collects twice.
    await collect({ type: 'major', execution: 'async', flavor: 'last-resort' });
  } finally {
    setFlagsFromString(`--bytecode-old-age=${keptBy.v8}`);
  }
}
