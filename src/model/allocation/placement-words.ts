import { oneLine, plural } from '../../base/words.ts';
import type { Evaluation } from '../evaluation/evaluation.ts';
import type { Job } from '../job/job.ts';
import type { PlacementMetrics } from './placement-metrics.ts';

/**
 * Why allocations could not be placed, in words: a line for each group, followed by the reasons that
 * ruled nodes out. Source: docs/behaviour/scheduling.md#metrics-of-a-placement.
 */
export function placementFailures(
  failed: Evaluation['FailedTGAllocs'],
  drivers: Drivers = new Map(),
): { readonly group: string; readonly head: string; readonly reasons: readonly string[] }[] {
  return Object.entries(failed ?? {}).map(([group, metrics]) => ({
    group,
    head: `Group "${oneLine(group)}": ${plural(metrics.CoalescedFailures + 1, 'allocation')} could not be placed`,
    reasons: reasonsOf(metrics, drivers.get(group) ?? []),
  }));
}

/** The drivers of each group's tasks, by the group's name. */
export type Drivers = ReadonlyMap<string, readonly string[]>;

export const driversOf = ({ TaskGroups }: Pick<Job, 'TaskGroups'>): Drivers =>
  new Map(
    TaskGroups.map(({ Name, Tasks }) => [Name, [...new Set(Tasks.map(({ Driver }) => Driver))]]),
  );

function reasonsOf(metrics: PlacementMetrics, drivers: readonly string[]): string[] {
  if (metrics.NodesEvaluated === 0) return [noNodes(metrics)];
  const reasons = [`${plural(metrics.NodesEvaluated, 'node was', 'nodes were')} looked at`];
  for (const [rule, count] of largestFirst(metrics.ConstraintFiltered)) {
    const text = rule === missingDrivers ? driversInWords(drivers) : constraintInWords(rule);
    reasons.push(`${ruledOut(count)}: ${text}`);
  }
  for (const [name, count] of largestFirst(metrics.ClassFiltered)) {
    reasons.push(`${count} of those ruled out ${isOrAre(count)} of node class "${oneLine(name)}"`);
  }
  for (const [dimension, count] of largestFirst(metrics.DimensionExhausted)) {
    reasons.push(`${plural(count, 'node has', 'nodes have')} ${dimensionInWords(dimension)}`);
  }
  for (const [name, count] of largestFirst(metrics.ClassExhausted)) {
    reasons.push(
      `${count} of those without room ${isOrAre(count)} of node class "${oneLine(name)}"`,
    );
  }
  for (const quota of metrics.QuotaExhausted ?? []) {
    reasons.push(`the quota is used up: ${oneLine(quota)}`);
  }
  for (const [task, { CPU, MemoryMB, DiskMB }] of Object.entries(
    metrics.ResourcesExhausted ?? {},
  )) {
    const asks = [
      CPU > 0 && `${CPU} MHz`,
      MemoryMB > 0 && `${MemoryMB} MB of memory`,
      DiskMB > 0 && `${DiskMB} MB of disk`,
    ].filter((ask) => ask !== false);
    if (asks.length > 0) reasons.push(`task "${oneLine(task)}" asks for ${asks.join(', ')}`);
  }
  return reasons;
}

function noNodes({ NodesAvailable, NodesInPool, NodePool }: PlacementMetrics): string {
  const available = Object.values(NodesAvailable).reduce((total, count) => total + count, 0);
  const pool = oneLine(NodePool) || 'default';
  if (NodesInPool > 0 && available === 0) {
    return `none of the ${plural(NodesInPool, 'node')} in pool "${pool}" is in a datacenter of the job`;
  }
  return `no node is ready in pool "${pool}" ("roster node status" shows the nodes)`;
}

const isOrAre = (count: number): string => (count === 1 ? 'is' : 'are');

const ruledOut = (count: number): string => `${plural(count, 'node is', 'nodes are')} ruled out`;

/** The reason in metrics for a missing driver, which they do not name. */
const missingDrivers = 'missing drivers';

export const lacksDrivers = (failed: Evaluation['FailedTGAllocs']): boolean =>
  Object.values(failed ?? {}).some(({ ConstraintFiltered }) =>
    Object.hasOwn(ConstraintFiltered ?? {}, missingDrivers),
  );

function driversInWords(drivers: readonly string[]): string {
  const names = drivers.map((driver) => `"${oneLine(driver)}"`).join(', ');
  if (drivers.length === 0) return 'a driver of its tasks is missing or unhealthy there';
  if (drivers.length === 1) return `the driver ${names} is missing or unhealthy there`;
  return `one of the drivers ${names} is missing or unhealthy there`;
}

/** A constraint that nodes fail, in words. */
export function constraintInWords(rule: string): string {
  const text = oneLine(rule);
  if (text === missingDrivers) return driversInWords([]);
  if (text === 'distinct_hosts') return 'distinct_hosts: each already runs one of the job';
  if (/^(missing|unhealthy driver|computed class|distinct_property)/.test(text)) return text;
  return `constraint "${text}" does not hold`;
}

const shortages: Readonly<Record<string, string>> = {
  cpu: 'too little CPU left',
  memory: 'too little memory left',
  disk: 'too little disk left',
  cores: 'too few cores left',
};

/** An exhausted resource, in words. */
export function dimensionInWords(dimension: string): string {
  const text = oneLine(dimension);
  const known = shortages[text];
  if (known !== undefined) return known;
  const collision = /^network: reserved port collision (?:label=)?(.*)$/.exec(text);
  if (collision !== null) return `the static port ${collision[1]} in use already`;
  if (text === 'network: dynamic port selection failed') return 'no dynamic port left';
  if (text === 'network: no addresses available') return 'no address for its ports';
  if (text.startsWith('network: ')) return `no network to offer: ${text.slice(9)}`;
  if (text.startsWith('devices: ')) return text.slice(9);
  return `too little left: ${text}`;
}

const largestFirst = (counts: Readonly<Record<string, number>> | null): [string, number][] =>
  Object.entries(counts ?? {}).sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1));
