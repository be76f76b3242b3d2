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
  readonly world: World = {
    ...realWorld,
    timers: {
      ...realWorld.timers,
      after: (delayMs, run) => {
        const isBeat = this.isHasty && delayMs === readerLimits.beatMs;
        return realWorld.timers.after(isBeat ? secondMs / 5 : delayMs, run);
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
      if (workerInfo.workerId !== String(threadId)) return;
      const params = { expression: 'for (;;);' };
      const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params });
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message }, told);
    });
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  });
}
