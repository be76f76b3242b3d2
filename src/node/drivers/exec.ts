import { setTimeout } from 'node:timers/promises';
import { enterLimits } from '../limits.ts';
import { describeLayout } from '../supervisor/cgroups/layout.ts';
import { limitsIn } from '../supervisor/cgroups/plan.ts';
import type { SupervisorClient } from '../supervisor/client.ts';
import { type Check, type ConfigFields, configFaults, text, textList } from './config.ts';
import { type Driver, DriverFailure, type DriverFingerprint } from './driver.ts';
import { execBeside } from './exec-beside.ts';
import { capabilityList } from './isolation/capabilities.ts';
import { entryInto } from './isolation/enter.ts';
import { keepFilter } from './isolation/filter-file.ts';
import { type InsideCommand, isolate } from './isolation/isolate.ts';
import { withNames } from './isolation/names.ts';
import { isKnownArchitecture } from './isolation/seccomp/system-calls.ts';
import { type Allowances, allowanceAttributes } from './isolation/settings.ts';
import { type FoundTools, findProgram } from './isolation/tools.ts';
import { processCount, processMethods, startProcess } from './process.ts';

const namespace =
  (setting: string, isAllowed: boolean): Check =>
  (value) => {
    if (value === 'host' && !isAllowed)
      return `is "host", and ${setting} of this node forbids that`;
    return value === 'private' || value === 'host' ? undefined : 'must be "private" or "host"';
  };

/** The fields of a `Config` that all sandboxed tasks have. */
export const isolationFields = (allowances: Allowances): ConfigFields => ({
  work_dir: { check: text },
  pid_mode: { check: namespace('isolation.allow_host_pid', allowances.allowsHostPid) },
  ipc_mode: { check: namespace('isolation.allow_host_ipc', allowances.allowsHostIpc) },
  cap_add: { check: capabilityList(allowances.allowedCapabilities) },
  cap_drop: { check: capabilityList() },
  pids_limit: { check: processCount },
});

/** The parts that all drivers with sandboxes share. */
export interface IsolationPorts {
  readonly supervisor: SupervisorClient;
  /** The tools are looked for once, as the machine does not change while the agent runs. */
  readonly tools: () => Promise<FoundTools>;
  readonly allowances: Allowances;
  readonly isRoot: boolean;
  /** The directories in which the tools are looked for. */
  readonly path: string;
}

/** Runs tasks in sandboxes that see the system read-only, and their own directories. */
export function execDriver(ports: IsolationPorts): Driver {
  const fields: ConfigFields = {
    command: { required: true, check: text },
    args: { check: textList },
    ...isolationFields(ports.allowances),
  };
  return {
    name: 'exec',
    fingerprint: async () => isolationFingerprint(await ports.tools()),
    validate: (config) => configFaults(config, fields),
    start: async (task) => {
      const { command, args = [] } = task.config as Partial<InsideCommand>;
      const tools = toolsOf(await ports.tools());
      const view = withNames(tools.view, task);
      const request = await isolate(task, { command: command ?? '', args }, { ...tools, view });
      return startProcess(ports.supervisor, request);
    },
    ...isolatedMethods(ports),
  };
}

/** The parts of a driver that are the same for every program in a sandbox. */
export const isolatedMethods = ({ supervisor, tools, isRoot, path }: IsolationPorts) =>
  ({
    capabilities: {
      sendSignals: true,
      exec: true,
      fileSystemIsolation: 'chroot',
      networkModes: ['host', 'group'],
    },
    defaultKillSignal: 'SIGINT',
    // An agent that is not root can run tasks as its own user only.
    defaultUser: isRoot ? 'nobody' : '',
    usesOwnUser: isRoot,
    ...processMethods(supervisor),
    exec: async (runId, command) => {
      const status = supervisor.status(runId);
      const nsenter = await findProgram('nsenter', path);
      if (status === undefined) throw new DriverFailure('the task is not running', false);
      if (nsenter === undefined) {
        const reason = 'nsenter is not installed: install the package util-linux';
        throw new DriverFailure(reason, false);
      }
      const { setpriv, bubblewrap, defences } = toolsOf(await tools());
      const filterFile = (capabilities: readonly string[]) =>
        keepFilter(supervisor.directory, capabilities);
      const entryTools = { nsenter, setpriv, bubblewrap, filterFile, defences };
      const entry = await onceBegun(() => entryInto(status, command.command, entryTools));
      const wordsBefore = entry.command.length - command.command.length;
      const inside = { ...command, command: entry.command.slice(wordsBefore) };
      // The command enters as the agent's user, and becomes the task's user inside.
      const via = {
        prefix: entry.command.slice(0, wordsBefore),
        env: entry.variables,
        directory: '/',
        user: '',
      };
      return execBeside(supervisor, runId, inside, via);
    },
    // `raw_exec` ends the unclaimed runs of all drivers of the supervisor.
    endUnclaimed: async () => {},
  }) satisfies Partial<Driver>;

/** Waits for the short time between the start of a sandbox and that of the program in it. */
async function onceBegun<T>(enter: () => T): Promise<T> {
  for (let look = 1; ; look++) {
    try {
      return enter();
    } catch (error) {
      if (
        look === enterLimits.attemptsMax ||
        !(error instanceof DriverFailure && error.recoverable)
      )
        throw error;
      await setTimeout(enterLimits.retryDelayMs);
    }
  }
}

export function toolsOf(found: FoundTools) {
  if ('tools' in found) return found.tools;
  throw new DriverFailure(found.reason, false);
}

export function isolationFingerprint(found: FoundTools): DriverFingerprint {
  if (!('tools' in found)) {
    return { detected: false, healthy: false, description: found.reason, attributes: {} };
  }
  const { cgroups, setpriv, allowances } = found.tools;
  const limited = limitsIn(cgroups);
  const unlimited = (['cpu', 'memory', 'pids'] as const).filter((name) => !limited.includes(name));
  return {
    detected: true,
    healthy: true,
    description:
      unlimited.length === 0
        ? 'Healthy'
        : `Healthy, but without limits of ${unlimited.join(', ')}: ` +
          'the control groups for that cannot be written',
    attributes: {
      bubblewrap: found.version,
      cgroups: describeLayout(cgroups) || 'none',
      limits: limited.join(',') || 'none',
      seccomp: String(isKnownArchitecture(process.arch)),
      // Only an agent that is root can run tasks as other users, root among them.
      ...allowanceAttributes(setpriv === undefined ? withoutUsers(allowances) : allowances),
    },
  };
}

const withoutUsers = (allowances: Allowances): Allowances => ({
  ...allowances,
  allowsRoot: false,
  allowedCapabilities: [],
});
