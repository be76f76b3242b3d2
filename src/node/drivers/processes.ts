/** The drivers whose tasks are processes of the agent's supervisor. */

import { allDefences, type Defences } from '../defences.ts';
import { usableLayout } from '../supervisor/cgroups/cgroup.ts';
import { readCgroupLayout } from '../supervisor/cgroups/layout.ts';
import type { SupervisorClient } from '../supervisor/client.ts';
import type { Driver } from './driver.ts';
import { execDriver, type IsolationPorts } from './exec.ts';
import { allowancesOf, type IsolationSettings } from './isolation/settings.ts';
import { type FoundTools, findTools } from './isolation/tools.ts';
import { javaDriver } from './java.ts';
import { rawExecDriver } from './raw-exec.ts';

/** Agents are often started with a short PATH. */
const usualPlaces = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** `agentPath`: directories besides the usual ones in which the drivers look for programs. */
export function processDrivers(
  supervisor: SupervisorClient,
  settings: IsolationSettings,
  agentPath: string,
  defences: Defences = allDefences,
): readonly Driver[] {
  const path = `${agentPath}:${usualPlaces}`;
  const cgroups = usableLayout(readCgroupLayout(), `probe/${process.pid}`);
  const isRoot = process.getuid?.() === 0;
  let found: Promise<FoundTools> | undefined;
  const ports: IsolationPorts = {
    supervisor,
    tools: () => {
      found ??= findTools({ settings, cgroups, path, isRoot, defences });
      return found;
    },
    allowances: allowancesOf(settings),
    isRoot,
    path,
  };
  return [rawExecDriver(supervisor, cgroups), execDriver(ports), javaDriver(ports)];
}
