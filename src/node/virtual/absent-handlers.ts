import { StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { StreamHandler } from '../../model/node-stream/stream-connection.ts';

/** The things that a virtual node lacks, by the kind of the stream that asks for it. */
const absent: Readonly<Record<string, string>> = {
  exec: 'processes, so no command can run beside a task',
  files: 'files',
  snapshot: 'files',
  'allocation-usage': 'figures of resources in use',
  'node-usage': 'figures of resources in use',
  counters: 'metrics of its own',
  profile: 'profiles of its own',
  monitor: 'log of its own',
  reload: 'configuration to read again',
};

/** Refusals that tell a test what it cannot have. */
export const absentHandlers: readonly (readonly [kind: string, StreamHandler])[] = Object.entries(
  absent,
).map(([kind, noun]) => [
  kind,
  async () => {
    const message = `A virtual node has no ${noun}. Give the agent a port and a node of this machine for that.`;
    throw new StreamFault({ status: 400, code: 'not-on-virtual-nodes', message });
  },
]);
