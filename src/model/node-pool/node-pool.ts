import { type Fault, invalid } from '../errors.ts';
import { labelFaults } from '../labels.ts';
import { limits } from '../limits.ts';
import { below } from '../path.ts';
import { schedulerAlgorithms } from '../scheduler-configuration/scheduler-configuration.ts';
import {
  Choice,
  type Input,
  type Model,
  Nullable,
  stamps,
  Text,
  TextMap,
  Type,
} from '../schema.ts';

/**
 * A set of nodes that is kept apart: a job runs on the nodes of its pool.
 * Source: docs/behaviour/nodes.md#node-pools, docs/behaviour/scheduling.md#scores.
 */
export const NodePoolSchema = Type.Object({
  Name: Text(),
  Description: Text({ maxLength: limits.nodePool.descriptionLengthMax }),
  Meta: TextMap(),
  /** Fields that override the cluster's configuration; null: none. */
  SchedulerConfiguration: Nullable(
    Type.Object({
      /** Empty: the algorithm of the cluster. */
      SchedulerAlgorithm: Choice(['', ...schedulerAlgorithms]),
    }),
  ),
  ...stamps,
});
export interface NodePool extends Model<typeof NodePoolSchema> {}
export type NodePoolRequest = Input<NodePool>;

export const defaultPool = 'default';
/** The pool of all nodes. A job may name it; a node cannot. */
export const everyNode = 'all';

export const builtinPools = [
  { Name: defaultPool, Description: 'Nodes that name no other pool' },
  { Name: everyNode, Description: 'Every node there is' },
] as const;

export const isBuiltinPool = (name: string): boolean =>
  builtinPools.some(({ Name }) => Name === name);

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;

/** The fault of a pool's name, as the end of a sentence; `undefined` if it has none. */
export function poolNameFault(name: string): string | undefined {
  if (namePattern.test(name)) return undefined;
  return name === ''
    ? 'is required'
    : `must be 1 to ${limits.nodePool.nameLengthMax} letters, digits, "-" and "_"`;
}

/** @throws RosterError `invalid-body` with every fault beyond the schema */
export function requirePool({ Name, Meta }: Pick<NodePool, 'Name' | 'Meta'>): void {
  const faults: Fault[] = [];
  const fault = poolNameFault(Name);
  if (fault !== undefined) faults.push({ pointer: '/Name', message: `Name ${fault}` });
  const { metaMax, metaTextLengthMax } = limits.nodePool;
  const bounds = { entriesMax: metaMax, textLengthMax: metaTextLengthMax };
  faults.push(...labelFaults(Meta ?? {}, below(null, 'Meta'), bounds));
  if (faults.length > 0) throw invalid('invalid-body', faults);
}
