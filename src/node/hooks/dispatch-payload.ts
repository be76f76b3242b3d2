import type { Defences } from '../defences.ts';
import { interpolate } from '../environment/interpolate.ts';
import { writeBelow } from '../files.ts';
import type { TaskHookFactory } from './hook.ts';

/** Writes a dispatched job's payload to a file. Source: docs/behaviour/client.md#directories. */
export const dispatchPayloadHook =
  (defences?: Defences): TaskHookFactory =>
  (context) => {
    const { directories, job, task, environment, owner } = context;
    if (task().DispatchPayload === null || job().Payload === null) return undefined;
    return {
      name: 'dispatch-payload',
      async beforeStart() {
        const { DispatchPayload } = task();
        const { lookup } = environment();
        const file = interpolate(DispatchPayload?.File ?? '', lookup);
        const payload = Buffer.from(job().Payload ?? '', 'base64');
        await writeBelow(directories.local, file, payload, { owner: owner(), defences });
        return undefined;
      },
    };
  };
