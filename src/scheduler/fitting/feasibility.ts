/**
 * The rules that a node must pass for a group, whatever else runs on it. Placement and explanations
 * use the same table.
 * Source: docs/behaviour/scheduling.md#candidate-nodes, #comparisons, #classes-of-nodes.
 *
 * 1. A rule's verdict depends on the node alone; for scope `class`, on its computed class alone.
 * 2. The order of the table is the order of the checks.
 */
import type { Constraint } from '../../model/constraint/constraint.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import { defaultHostNetwork } from '../../model/network/network.ts';
import { hasDriver, lackOfDriver } from '../../model/node/drivers.ts';
import type { Node } from '../../model/node/node.ts';
import { isReadyNode } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { sourcesOf } from '../../model/volume/host-volume.ts';
import { deviceAsks, scarceDevice, unsuitableDevice } from './devices.ts';
import { compileOperand } from './operands.ts';
import { hostAddress, networkAsks, offersMode } from './ports.ts';
import { isUnique } from './target.ts';

export interface Rule {
  readonly name: string;
  /** The failed rule in the words of metrics and explanations. */
  readonly text: string;
  /**
   * `readiness`: whether the node takes new work; `candidate`: the job's pool and datacenters
   * (neither counts as filtered); `class`: equal for all nodes of a computed class; `node`: any other.
   */
  readonly scope: 'readiness' | 'candidate' | 'class' | 'node';
  readonly passes: (node: Node) => boolean;
  /** A longer text about a node that fails the rule, for explanations. */
  readonly explain?: (node: Node) => string;
}

/** The rules for a group, in the order of the checks. */
export function rulesFor(job: Job, group: TaskGroup): readonly Rule[] {
  const inner = [...(group.Constraints ?? []), ...group.Tasks.flatMap((t) => t.Constraints ?? [])];
  return [
    ...candidateRules(job),
    ...(job.Constraints ?? []).flatMap(constraintRule),
    driverRule(group),
    ...inner.flatMap(constraintRule),
    ...deviceRules(group),
    ...volumeRules(group),
    ...networkRules(group),
  ].map(classCached);
}

function candidateRules(job: Job): Rule[] {
  const datacenters = job.Datacenters.map(compileGlob);
  return [
    {
      name: 'ready',
      text: 'node is not ready and eligible',
      scope: 'readiness',
      passes: isReadyNode,
      explain: standingInWords,
    },
    {
      name: 'pool',
      text: `node pool is not "${job.NodePool}"`,
      scope: 'candidate',
      passes: (node) => job.NodePool === 'all' || node.NodePool === job.NodePool,
    },
    {
      name: 'datacenter',
      text: `datacenter is not one of ${job.Datacenters.join(', ')}`,
      scope: 'candidate',
      passes: (node) => datacenters.some((matches) => matches(node.Datacenter)),
    },
  ];
}

function standingInWords({ Status, Drain }: Node): string {
  if (Status !== 'ready') return `node is ${Status}`;
  return Drain ? 'node is being drained' : 'node is ineligible';
}

/** `*` matches any characters, `?` a single one. At most glob length x text length steps. */
export function compileGlob(glob: string): (text: string) => boolean {
  return (text) => {
    let at = 0;
    let position = 0;
    // Position of the last `*`, and the end of the text that it matches so far.
    let star = -1;
    let given = 0;
    while (position < text.length) {
      if (glob[at] === '*') {
        star = at++;
        given = position;
      } else if (glob[at] === '?' || (at < glob.length && glob[at] === text[position])) {
        at++;
        position++;
      } else if (star >= 0) {
        at = star + 1;
        position = ++given;
      } else {
        return false;
      }
    }
    while (glob[at] === '*') at++;
    return at === glob.length;
  };
}

export const constraintText = (rule: Pick<Constraint, 'LTarget' | 'RTarget' | 'Operand'>): string =>
  [rule.LTarget, rule.Operand, rule.RTarget].filter((part) => part !== '').join(' ');

/** The `distinct_*` operands depend on placements and are handled in `scoring/distinct.ts`. */
function constraintRule(constraint: Constraint): Rule[] {
  if (constraint.Operand.startsWith('distinct_')) return [];
  const escapes = isUnique(constraint.LTarget) || isUnique(constraint.RTarget);
  return [
    {
      name: 'constraint',
      text: constraintText(constraint),
      scope: escapes ? 'node' : 'class',
      passes: compileOperand(constraint),
    },
  ];
}

function driverRule(group: TaskGroup): Rule {
  const drivers = [...new Set(group.Tasks.map((task) => task.Driver))];
  return {
    name: 'drivers',
    text: 'missing drivers',
    // A computed class includes the drivers' detection and health.
    scope: 'class',
    passes: (node) => drivers.every((driver) => hasDriver(node, driver)),
    explain: (node) => lackOfDriver(node, drivers.find((one) => !hasDriver(node, one)) ?? ''),
  };
}

/** Two rules: nodes of one class have the same makes, but differ in their healthy pieces. */
function deviceRules(group: TaskGroup): Rule[] {
  const asks = deviceAsks(group);
  if (asks.length === 0) return [];
  const told = { name: 'devices', text: 'missing devices' };
  return [
    {
      ...told,
      scope: 'class',
      passes: (node) => unsuitableDevice(node, asks) === undefined,
      explain: (node) => `no suitable device ${unsuitableDevice(node, asks) ?? ''}`,
    },
    {
      ...told,
      scope: 'node',
      passes: (node) => scarceDevice(node, asks) === undefined,
      explain: (node) => `too few healthy pieces of device ${scarceDevice(node, asks) ?? ''}`,
    },
  ];
}

/**
 * With volumes per allocation a node must offer the volumes of all allocations, since it may get any
 * of them.
 */
function volumeRules(group: TaskGroup): Rule[] {
  const volumes = Object.values(group.Volumes ?? {});
  // Bounds the work: no node has more volumes than the limit.
  const count = Math.min(group.Count, limits.node.hostVolumesMax + 1);
  const asked = volumes
    .filter(({ Type }) => Type !== 'csi')
    .flatMap((volume) =>
      sourcesOf(volume, count).map((name) => ({ name, isWriter: !volume.ReadOnly })),
    );
  const rules: Rule[] = [];
  if (asked.length > 0) {
    const lackOf = (node: Node): string | undefined => {
      // Nodes registered with an older server have no `HostVolumes`.
      const offered: Node['HostVolumes'] = node.HostVolumes ?? {};
      for (const { name, isWriter } of asked) {
        const found = Object.hasOwn(offered, name) ? offered[name] : undefined;
        if (found === undefined) return `missing host volume ${name}`;
        if (isWriter && found.ReadOnly) return `host volume ${name} is read-only`;
      }
      return undefined;
    };
    rules.push({
      name: 'host volumes',
      text: 'missing compatible host volumes',
      scope: 'node',
      passes: (node) => lackOf(node) === undefined,
      explain: (node) => lackOf(node) ?? '',
    });
  }
  // No node offers CSI volumes yet.
  if (volumes.some(({ Type }) => Type === 'csi')) {
    const told = { name: 'storage plugin', text: 'missing storage plugin' };
    rules.push({ ...told, scope: 'node', passes: () => false });
  }
  return rules;
}

function networkRules(group: TaskGroup): Rule[] {
  const rules: Rule[] = [];
  for (const { network } of networkAsks(group)) {
    rules.push({
      name: 'network',
      text: 'missing network',
      scope: 'node',
      passes: (node) => offersMode(node, network.Mode),
    });
    for (const port of [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])]) {
      const name = port.HostNetwork || defaultHostNetwork;
      rules.push({
        name: 'host network',
        text: `missing host network "${name}" for port "${port.Label}"`,
        scope: 'node',
        passes: (node) => hostAddress(node, name) !== undefined,
      });
    }
  }
  return rules;
}

function classCached(rule: Rule): Rule {
  if (rule.scope !== 'class') return rule;
  const verdicts = new Map<string, boolean>();
  return {
    ...rule,
    passes: (node) => {
      if (node.ComputedClass === '') return rule.passes(node);
      let verdict = verdicts.get(node.ComputedClass);
      if (verdict === undefined) {
        verdict = rule.passes(node);
        verdicts.set(node.ComputedClass, verdict);
      }
      return verdict;
    },
  };
}

/** The first rule that the node fails, of the scopes asked for. */
export const firstFailed = (
  rules: readonly Rule[],
  node: Node,
  isAsked: (scope: Rule['scope']) => boolean = () => true,
): Rule | undefined => rules.find((rule) => isAsked(rule.scope) && !rule.passes(node));

/** Whether a constraint uses a unique attribute, so that nodes of one class may differ. */
export const escapesClass = (rules: readonly Rule[]): boolean =>
  rules.some((rule) => rule.name === 'constraint' && rule.scope === 'node');
