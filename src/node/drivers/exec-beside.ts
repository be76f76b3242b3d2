import type { SupervisorClient } from '../supervisor/client.ts';
import type { ExecEntrance } from '../supervisor/protocol.ts';
import { type DriverCommand, type DriverExec, DriverFailure } from './driver.ts';

/**
 * Runs a command beside a task of the supervisor. `via` says how to enter an isolated task; without
 * it the command runs like the task's own command. Rejects with `DriverFailure`.
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
