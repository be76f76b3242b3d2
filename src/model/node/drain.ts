import { instantToMs } from '../../base/instant.ts';
import { limits } from '../limits.ts';
import { Choice, Flag, type Model, Nanoseconds, Nullable, Text, TextMap, Type } from '../schema.ts';

const wish = {
  /**
   * Nanoseconds until the remaining allocations are moved at once. 0: no deadline; negative: they are moved
   * at once, now.
   */
  Deadline: Nanoseconds({ maximum: limits.node.drainDeadlineMaxMs * 1e6 }),
  /** Whether allocations of system and sysbatch jobs stay. */
  IgnoreSystemJobs: Flag(),
};

/** A request to drain a node. Source: docs/behaviour/nodes.md#drains. */
export const DrainSpecSchema = Type.Object(wish);
export type DrainSpec = Model<typeof DrainSpecSchema>;

/** A drain that goes on. Instants are RFC 3339. */
export const DrainStrategySchema = Type.Object({
  ...wish,
  /** The time when all allocations have to go; null: never. */
  ForceDeadline: Nullable(Type.String()),
  StartedAt: Nullable(Type.String()),
  /** Whether the node takes work again once it is empty. */
  MarkEligible: Flag(),
});
export type DrainStrategy = Model<typeof DrainStrategySchema>;

export const drainStatuses = ['draining', 'complete', 'canceled'] as const;

/** The state of a node's newest drain. */
export const LastDrainSchema = Type.Object({
  StartedAt: Nullable(Type.String()),
  UpdatedAt: Nullable(Type.String()),
  Status: Choice(drainStatuses, 'draining'),
  /** The accessor of the token that asked for the drain. */
  AccessorID: Text(),
  /** The reason, in the caller's words. */
  Meta: TextMap(),
});
export type LastDrain = Model<typeof LastDrainSchema>;

/** Whether the deadline has passed, so that all allocations have to go. */
export const isForced = ({ ForceDeadline }: Pick<DrainStrategy, 'ForceDeadline'>, nowMs: number) =>
  ForceDeadline !== null && Date.parse(ForceDeadline) <= nowMs;

/** The time when all allocations have to go; `undefined`: never. */
export function forceAtMs({ Deadline }: DrainSpec, nowMs: number): number | undefined {
  if (Deadline === 0) return undefined;
  return Deadline < 0 ? nowMs : nowMs + instantToMs(Deadline);
}
