/**
 * Drivers and network modes that a namespace allows its jobs.
 *
 *  1. A disabled name is refused even if it is enabled as well. An empty list of enabled names enables all
 *     names.
 *  2. Both the network that the group asks for and the network that a task really gets are checked:
 *     without a network, or with the mode `none`, a process has the node's own, and a container has the
 *     network of its configuration.
 *  3. A name that only the node will know (`${…}`, the network of another container) is refused wherever
 *     there is a restriction, unless that very text is enabled.
 */
import type { Fault } from '../errors.ts';
import type { Job } from '../job/job.ts';
import type { Network } from '../network/network.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import type { Task } from '../task/task.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import { hasInterpolation } from '../text-rules.ts';
import type { Namespace } from './namespace.ts';

/** Everything that the job uses and its namespace does not allow; `at` is the place of the job. */
export function capabilityFaults(
  { Name, Capabilities }: Pick<Namespace, 'Name' | 'Capabilities'>,
  job: Pick<Job, 'TaskGroups'>,
  at: Path,
): Fault[] {
  if (Capabilities === null) return [];
  const drivers = allowance(Capabilities.EnabledTaskDrivers, Capabilities.DisabledTaskDrivers);
  const modes = allowance(Capabilities.EnabledNetworkModes, Capabilities.DisabledNetworkModes);
  const refused =
    (allowed: Allowance) =>
    ({ path, what, used }: Use) => {
      const reason = allowed(used);
      return reason === undefined
        ? []
        : [faultAt(path, `${what}: the namespace ${quote(Name)} ${reason}`)];
    };
  return job.TaskGroups.flatMap((group, index) => {
    const path = below(at, 'TaskGroups', index);
    return [
      ...driversUsed(group, path).flatMap(refused(drivers)),
      ...modesUsed(group, path).flatMap(refused(modes)),
    ];
  });
}

/** A driver or network that a job uses, with its place and its words. */
interface Use {
  readonly path: Path;
  readonly what: string;
  readonly used: string;
}

/** The reason that a word is not allowed; `undefined` if it is. */
type Allowance = (word: string) => string | undefined;

function allowance(
  enabled: readonly string[] | null,
  disabled: readonly string[] | null,
): Allowance {
  const isOpen = (enabled ?? []).length === 0;
  if (isOpen && (disabled ?? []).length === 0) return () => undefined;
  return (word) => {
    if (disabled?.includes(word)) return `has disabled ${quote(word)}`;
    if (enabled?.includes(word)) return undefined;
    if (isKnownThere(word))
      return 'restricts this, and only the node knows the name that it stands for';
    if (isOpen) return undefined;
    return `allows only ${enabled?.map(quote).join(', ')}`;
  };
}

const isKnownThere = (word: string): boolean =>
  hasInterpolation(word) || /^(container|ns):/.test(word);

const driversUsed = ({ Name, Tasks }: TaskGroup, path: Path): Use[] =>
  Tasks.map((task, index) => ({
    path: below(path, 'Tasks', index, 'Driver'),
    what: `is ${quote(task.Driver)} (task ${quote(task.Name)} of group ${quote(Name)})`,
    used: task.Driver,
  }));

function modesUsed(group: TaskGroup, path: Path): Use[] {
  const ofGroup = `(group ${quote(group.Name)})`;
  const ofTasks = group.Tasks.flatMap((task, index) => {
    const at = below(path, 'Tasks', index);
    const who = `(task ${quote(task.Name)} of group ${quote(group.Name)})`;
    return [
      ...networkUses(task.Resources.Networks, below(at, 'Resources', 'Networks'), who),
      ...ownNetwork(group, task, { at, who }),
    ];
  });
  return [...networkUses(group.Networks, below(path, 'Networks'), ofGroup), ...ofTasks];
}

const networkUses = (networks: readonly Network[] | null, path: Path, who: string): Use[] =>
  (networks ?? []).map(({ Mode }, index) => ({
    path: below(path, index, 'Mode'),
    what: `is ${quote(Mode || 'host')} ${who}`,
    used: Mode || 'host',
  }));

/** The network that a task has by itself, whatever its group asks for. */
function ownNetwork(
  group: TaskGroup,
  task: Task,
  { at, who }: { readonly at: Path; readonly who: string },
): Use[] {
  if (task.Driver === 'docker') {
    const used = containerMode(task.Config?.network_mode);
    return [{ path: below(at, 'Config', 'network_mode'), what: `is ${quote(used)} ${who}`, used }];
  }
  // The mode `none` takes no network away from a process: it sees the node's network.
  const [network] = group.Networks ?? [];
  if (network !== undefined && network.Mode !== 'none') return [];
  return [{ path: at, what: `has the network of its node, "host" ${who}`, used: 'host' }];
}

/** A container's own network has many names; the container runtimes' default is one of them. */
const containerMode = (given: unknown): string =>
  typeof given !== 'string' || /^(|default|private|bridge:.*)$/.test(given) ? 'bridge' : given;
