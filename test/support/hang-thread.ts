/** Lets threads of this process hang. */
import { Session } from 'node:inspector';
import type { Worker } from 'node:worker_threads';
import type { World } from '../../src/base/ports.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { secondMs } from '../../src/base/units.ts';
import { readerLimits } from '../../src/server/readers/limits.ts';

/** A world in which the beats of threads follow each other closely while `isHasty`. All else takes its time. */
export class HastyBeats {
  isHasty = false;
  /** Beats so far. From its second one on, a thread that has answered the first counts as hung a good deal sooner. */
  count = 0;
  readonly world: World = {
    ...realWorld,
    timers: {
      ...realWorld.timers,
      after: (delayMs, run) => {
        if (delayMs !== readerLimits.beatMs) return realWorld.timers.after(delayMs, run);
        const beat = () => {
          this.count++;
          run();
        };
        return realWorld.timers.after(this.isHasty ? secondMs / 5 : delayMs, beat);
      },
    },
  };
}

/** Sessions end with the process: without a reference they would end earlier. */
const sessions: Session[] = [];

/** Has the thread run without end. Resolves when it has been told so. */
export function hangThread({ threadId }: Worker): Promise<void> {
  const session = new Session();
  sessions.push(session);
  session.connect();
  return new Promise((resolve, reject) => {
    const told = (error: Error | null) => (error === null ? resolve() : reject(error));
    session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      // `workerId` counts the threads that the inspector has seen, and is not the thread's own id.
      if (!workerInfo.title.startsWith(`[worker ${threadId}]`)) return;
      const params = { expression: 'for (;;);' };
      const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params });
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message }, told);
    });
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  });
}
