/** The common parts of drivers whose tasks are processes of the supervisor. */

import { limits } from '../../model/limits.ts';
import { readUsage, usageOfProcesses } from '../supervisor/cgroups/usage.ts';
import type { SupervisorClient } from '../supervisor/client.ts';
import { descendantsOf } from '../supervisor/inside.ts';
import { type StartRequest, SupervisorRefusal } from '../supervisor/protocol.ts';
import type { Check } from './config.ts';
import { type Driver, DriverFailure, type DriverHandle, type DriverUsage } from './driver.ts';

/** Failures of a start that may pass. */
const passingCodes = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY', 'ENOSPC']);

/** Rejects with {@link DriverFailure}. */
export async function startProcess(
  supervisor: SupervisorClient,
  request: StartRequest,
): Promise<DriverHandle> {
  try {
    await supervisor.start(request);
  } catch (error) {
    const recoverable = !(error instanceof SupervisorRefusal) || passingCodes.has(error.code);
    throw new DriverFailure((error as Error).message, recoverable);
  }
  return handleOf(supervisor, request.taskId);
}

/** The part of a driver that does not depend on how its processes are started. */
export function processMethods(supervisor: SupervisorClient) {
  return {
    expectStart: () => supervisor.expectStart(),
    recover: async (runId) => {
      const status = await supervisor.find(runId);
      return status && handleOf(supervisor, runId);
    },
    usage: (runId) => usageOf(supervisor, runId),
  } satisfies Pick<Driver, 'expectStart' | 'recover' | 'usage'>;
}

function handleOf(supervisor: SupervisorClient, runId: string): DriverHandle {
  return {
    runId,
    exited: supervisor.exitOf(runId),
    async signal(signal) {
      const sent = await supervisor.signal(runId, signal).catch((error: Error) => {
        throw new DriverFailure(error.message, false);
      });
      if (!sent) throw new DriverFailure('the task is not running', false);
    },
    stop: (signal, timeoutMs) => supervisor.kill(runId, signal, timeoutMs),
    forget: () => supervisor.forget(runId),
  };
}

async function usageOf(
  supervisor: SupervisorClient,
  runId: string,
): Promise<DriverUsage | undefined> {
  const status = supervisor.status(runId);
  if (status === undefined || status.exit !== undefined) return undefined;
  const counted = await readUsage(status.cgroups ?? []);
  if (counted !== undefined) return counted;
  // Without processes that left their parents: a search of the machine takes too long.
  return usageOfProcesses(descendantsOf(status.pid));
}

/** Ends the unclaimed runs of all drivers of this supervisor: one driver calls it for all. */
export async function endUnclaimed(
  supervisor: SupervisorClient,
  claimed: ReadonlySet<string>,
): Promise<void> {
  const unclaimed = (await supervisor.connect()).filter(({ taskId }) => !claimed.has(taskId));
  await Promise.all(
    unclaimed.map(async ({ taskId, exit }) => {
      if (exit === undefined) await supervisor.kill(taskId, 'SIGTERM', 5000);
      await supervisor.exitOf(taskId);
      await supervisor.forget(taskId);
    }),
  );
}

/** For `pids_limit`. */
export const processCount: Check = (value) => {
  const { processesMax } = limits.task;
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= processesMax
    ? undefined
    : `must be an integer from 1 to ${processesMax}`;
};
