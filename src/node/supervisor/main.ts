/**
 * Entry of the supervisor process. Its only argument is a JSON object with the data directory and
 * the mode; nothing secret is in it.
 */
import { rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { collectAll } from '../../base/collector.ts';
import { readCgroupLayout } from './cgroups/layout.ts';
import { removeStaleGroups } from './cgroups/stale.ts';
import { closeInheritedDescriptors } from './inherited-descriptors.ts';
import { collectorLimits } from './limits.ts';
import { supervisorPaths } from './paths.ts';
import { say } from './say.ts';
import { Supervisor } from './supervisor.ts';

export interface SupervisorArguments {
  readonly dataDirectory: string;
  /** The tasks end with the agent, and the data directory is removed. */
  readonly endWithAgent: boolean;
  readonly idleTimeoutMs: number;
}

closeInheritedDescriptors();

const fail = (reason: unknown): never => {
  say(String(reason));
  process.exit(1);
};

let isStart = true;
/** Without new objects the collector would not begin, and the garbage of the last starts would stay for good. */
const collecting = setTimeout(() => {
  void collectAll({ isStart });
  isStart = false;
}, collectorLimits.restMs);

const options = JSON.parse(process.argv[2] ?? '{}') as SupervisorArguments;
const paths = supervisorPaths(options.dataDirectory);
const supervisor = new Supervisor({
  paths,
  endWithAgent: options.endWithAgent,
  idleTimeoutMs: options.idleTimeoutMs,
  onChange: () => collecting.refresh(),
  onEnd: () => {
    if (options.endWithAgent) remove();
    else leaveNothingFar();
    process.exit(0);
  },
});

function remove(): void {
  try {
    for (const directory of [options.dataDirectory, dirname(paths.socket)]) {
      rmSync(directory, { recursive: true, force: true });
    }
  } catch {
    // An agent that ends normally removes them too.
  }
}

/** Removes the directory of a socket outside the data directory; any other is not empty. */
function leaveNothingFar(): void {
  try {
    rmdirSync(dirname(paths.socket));
  } catch {
    // It is not empty, or gone.
  }
}

// Hang-ups and interrupts of the agent's terminal are not meant for tasks.
process.on('SIGHUP', () => {});
process.on('SIGINT', () => {});
process.on('SIGTERM', () => void supervisor.end('SIGTERM', 5000).then(() => supervisor.close()));
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
supervisor.listen().catch(fail);
void removeStaleGroups(readCgroupLayout(), Date.now());
