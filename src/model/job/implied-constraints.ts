/**
 * Requirements of a node that follow from other fields of a group, as constraints of the group. So they are
 * shown in the job, and are told when no node fits.
 * Source: docs/behaviour/job-specification.md#implied-constraints.
 */
import type { Constraint } from '../constraint/constraint.ts';
import type { Task } from '../task/task.ts';
import type { TaskGroup } from '../task-group/task-group.ts';

/** The group with its implied constraints. A constraint that it already has is kept as it is. Idempotent. */
export function withImpliedConstraints(group: TaskGroup): TaskGroup {
  const own = group.Constraints ?? [];
  const missing = [...signalConstraint(group, own), ...featureConstraints(group, own)];
  return missing.length === 0 ? group : { ...group, Constraints: [...own, ...missing] };
}

const signalsTarget = '${attr.os.signals}';

/** The signals of all tasks, unless constraints of the group require each of them already. */
function signalConstraint(group: TaskGroup, own: readonly Constraint[]): Constraint[] {
  const wanted = [...new Set(group.Tasks.flatMap(signalsOf))].sort();
  if (wanted.length === 0) return [];
  const demanded = new Set(
    own
      .filter(({ LTarget, Operand }) => LTarget === signalsTarget && Operand === 'set_contains')
      .flatMap(({ RTarget }) => RTarget.split(',').map((name) => name.trim())),
  );
  if (wanted.every((signal) => demanded.has(signal))) return [];
  return [{ LTarget: signalsTarget, RTarget: wanted.join(','), Operand: 'set_contains' }];
}

function signalsOf(task: Task): string[] {
  const changes = [
    ...(task.Templates ?? []),
    ...(task.Identities ?? []),
    ...(task.Secrets === null ? [] : [task.Secrets]),
    ...(task.Identity === null ? [] : [task.Identity]),
  ];
  const onChange = changes.flatMap(({ ChangeMode, ChangeSignal }) =>
    ChangeMode === 'signal' ? [ChangeSignal] : [],
  );
  // Only the node knows the text of an interpolation.
  return [task.KillSignal, ...onChange].filter((name) => /^[A-Z][A-Z0-9+-]*$/.test(name));
}

const isAtLeast = (attribute: string, version: string): Constraint => ({
  LTarget: `\${${attribute}}`,
  RTarget: `>= ${version}`,
  Operand: 'semver',
});

/** The node keeps the registrations of both providers, so a single attribute covers both. */
const keepsServices: Constraint = {
  LTarget: '${attr.roster.service_discovery}',
  RTarget: 'true',
  Operand: '=',
};
const hasSecretsEngine = isAtLeast('attr.secrets.version', '0.6.1');
const hasBridge = ['bridge', 'firewall', 'host-local', 'loopback', 'portmap'].map((plugin) =>
  isAtLeast(`attr.plugins.cni.version.${plugin}`, '0.4.0'),
);
/** The first version whose nodes know these blocks. */
const isRecent = isAtLeast('attr.roster.version', '0.1.0');

function featureConstraints(group: TaskGroup, own: readonly Constraint[]): Constraint[] {
  const { Tasks } = group;
  const hasServices = group.Services !== null || Tasks.some((task) => task.Services !== null);
  const wanted = [
    ...(Tasks.some((task) => task.Secrets !== null) ? [hasSecretsEngine] : []),
    ...(hasServices ? [keepsServices] : []),
    ...(group.Networks?.[0]?.Mode === 'bridge' ? hasBridge : []),
    ...(Tasks.some(needsRecentNode) ? [isRecent] : []),
  ];
  if (wanted.length === 0) return [];
  const targets = new Set(own.map(({ LTarget }) => LTarget));
  return wanted.filter(({ LTarget }) => !targets.has(LTarget));
}

const needsRecentNode = ({ Identity, Identities, Schedule, Resources: { NUMA } }: Task): boolean =>
  Identity !== null ||
  Identities !== null ||
  Schedule !== null ||
  (NUMA?.Affinity ?? 'none') !== 'none';
