import type { SupervisorClient } from '../supervisor/client.ts';
import type { ExecEntrance } from '../supervisor/protocol.ts';
import { type DriverCommand, type DriverExec, DriverFailure } from './driver.ts';

/**
 * Runs a command beside a task that the supervisor runs. `via` says how an isolated task is
 * entered; without it the command is as the task's own is. Rejects with `DriverFailure`.
 */
export async function execBeside(
  supervisor: Pick<SupervisorClient, 'exec'>,
  runId: string,
  { command, tty }: DriverCommand,
  via?: ExecEntrance,
): Promise<DriverExec> {
  try {
    return await supervisor.exec({
      taskId: runId,
      command,
      tty,
      ...(via !== undefined && { via }),
    });
  } catch (error) {
    throw new DriverFailure((error as Error).message, false);
  }
}
