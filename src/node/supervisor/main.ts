/**
 * Entry of the supervisor process. Its only argument is a JSON object with the data directory and
 * the mode; nothing secret is in it.
 */
import { supervisorPaths } from './paths.ts';
import { Supervisor } from './supervisor.ts';

export interface SupervisorArguments {
  readonly dataDirectory: string;
  readonly endWithAgent: boolean;
  readonly idleTimeoutMs: number;
}

const fail = (reason: unknown): never => {
  process.stderr.write(`${new Date().toISOString()} ${String(reason)}\n`);
  process.exit(1);
};

const options = JSON.parse(process.argv[2] ?? '{}') as SupervisorArguments;
const supervisor = new Supervisor({
  paths: supervisorPaths(options.dataDirectory),
  endWithAgent: options.endWithAgent,
  idleTimeoutMs: options.idleTimeoutMs,
  onEnd: () => process.exit(0),
});

// A hang-up or an interrupt in the agent's terminal is not meant for the tasks.
process.on('SIGHUP', () => {});
process.on('SIGINT', () => {});
process.on('SIGTERM', () => void supervisor.end('SIGTERM', 5000).then(() => supervisor.close()));
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
supervisor.listen().catch(fail);
