import { instantToMs } from '../../base/instant.ts';
import { limits } from '../limits.ts';
import { Choice, Flag, type Model, Nanoseconds, Nullable, Text, TextMap, Type } from '../schema.ts';

const wish = {
  /**
   * Nanoseconds until everything that is still there is moved at once. 0: no deadline; negative:
   * it is moved at once, now.
   */
  Deadline: Nanoseconds({ maximum: limits.node.drainDeadlineMaxMs * 1e6 }),
  /** Leave what system and sysbatch jobs run there. */
  IgnoreSystemJobs: Flag(),
};

/** How a node is to be emptied. Source: docs/behaviour/nodes.md#drains. */
export const DrainSpecSchema = Type.Object(wish);
export type DrainSpec = Model<typeof DrainSpecSchema>;

/** The same while it goes on. Instants are RFC 3339. */
export const DrainStrategySchema = Type.Object({
  ...wish,
  /** When everything has to go; null: never. */
  ForceDeadline: Nullable(Type.String()),
  StartedAt: Nullable(Type.String()),
  /** The node takes work again once it is empty. */
  MarkEligible: Flag(),
});
export type DrainStrategy = Model<typeof DrainStrategySchema>;

export const drainStatuses = ['draining', 'complete', 'canceled'] as const;

/** What became of the newest drain of a node. */
export const LastDrainSchema = Type.Object({
  StartedAt: Nullable(Type.String()),
  UpdatedAt: Nullable(Type.String()),
  Status: Choice(drainStatuses, 'draining'),
  /** Of the token of who asked for it. */
  AccessorID: Text(),
  /** Why, in the words of who asked. */
  Meta: TextMap(),
});
export type LastDrain = Model<typeof LastDrainSchema>;

/** Whether the time is up, so that everything has to go. */
export const isForced = ({ ForceDeadline }: Pick<DrainStrategy, 'ForceDeadline'>, nowMs: number) =>
  ForceDeadline !== null && Date.parse(ForceDeadline) <= nowMs;

/** When everything has to go, by what was asked for; `undefined`: never. */
export function forceAtMs({ Deadline }: DrainSpec, nowMs: number): number | undefined {
  if (Deadline === 0) return undefined;
  return Deadline < 0 ? nowMs : nowMs + instantToMs(Deadline);
}
