/** The supervisor of nodes without some defences. Its argument is JSON. */
import type { Defences } from '../../src/node/defences.ts';
import type { SupervisorArguments } from '../../src/node/supervisor/main.ts';
import { supervisorPaths } from '../../src/node/supervisor/paths.ts';
import { Supervisor } from '../../src/node/supervisor/supervisor.ts';

const { dataDirectory, endWithAgent, idleTimeoutMs, defences } = JSON.parse(
  process.argv[2]!,
) as SupervisorArguments & { readonly defences: Defences };

const supervisor = new Supervisor({
  paths: supervisorPaths(dataDirectory),
  endWithAgent,
  idleTimeoutMs,
  defences,
  onEnd: () => process.exit(0),
});
process.on('SIGTERM', () => void supervisor.end('SIGTERM', 5000).then(() => supervisor.close()));
await supervisor.listen();
