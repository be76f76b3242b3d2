import type { Allocation } from '../../model/allocation/allocation.ts';
import { type PresentedNode, watch } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { byName, oneLine } from '../render/text.ts';
import { deadlineText } from './drain-text.ts';

type Stub = Pick<Allocation, 'ID' | 'Name' | 'DesiredStatus' | 'ClientStatus'> & {
  readonly DesiredTransition: Pick<Allocation['DesiredTransition'], 'Migrate'>;
};

/** Prints progress until the drain of the node ends. Resolves with the node after the drain. */
export async function monitorDrain(
  context: Context,
  id: string,
  signal: AbortSignal,
): Promise<PresentedNode> {
  const log = context.isJson ? context.notes : context.screen;
  const over = new AbortController();
  const told = new Map<string, readonly string[]>();
  const readAllocations = (options: object) => context.client.nodes.allocations(id, options);
  const tellAll = async (allocations: readonly Stub[]) => {
    for (const one of [...allocations].sort(byName)) await tell(context, one, told);
  };
  const follow = async () => {
    const either = AbortSignal.any([signal, over.signal]);
    for await (const allocations of watch(readAllocations, { signal: either })) {
      await tellAll(allocations);
    }
  };
  const following = follow().catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
  });
  let node: PresentedNode | undefined;
  const read = (options: object) => context.client.nodes.read(id, options);
  for await (const value of watch(read, { signal })) {
    const deadline = value.DrainStrategy?.ForceDeadline;
    if (value.Drain && node?.DrainStrategy?.ForceDeadline !== deadline) {
      const text = deadlineText(value.DrainStrategy!, context.nowMs);
      await log.line(`  Everything has to go by the deadline: ${text}.`);
    }
    node = value;
    if (!value.Drain) break;
  }
  over.abort();
  await following;
  // The end of the drain may arrive before the end of the last allocation.
  await tellAll((await readAllocations({ signal })).value);
  await log.line(`The drain of node ${context.id(id)} is ${node!.LastDrain?.Status ?? 'over'}.`);
  return node!;
}

async function tell(
  context: Context,
  one: Stub,
  told: Map<string, readonly string[]>,
): Promise<void> {
  const log = context.isJson ? context.notes : context.screen;
  const before = told.get(one.ID) ?? [];
  const now = wordsOf(one);
  told.set(one.ID, now);
  // An allocation that ran before is printed only if it moves, and an ended one only if it was seen running.
  if (before.length === 0 && (!now.includes('moves') || isOver(one))) return;
  for (const word of now.filter((one) => !before.includes(one))) {
    await log.line(`  ${oneLine(one.Name)}  ${context.id(one.ID)}  ${log.status(word)}`);
  }
}

const isOver = ({ ClientStatus }: Pick<Stub, 'ClientStatus'>): boolean =>
  ClientStatus !== 'running' && ClientStatus !== 'pending';

/** The words for an allocation; the last is its status. `migrating` comes first, even if it ended meanwhile. */
const wordsOf = ({ DesiredStatus, ClientStatus, DesiredTransition }: Stub): readonly string[] => {
  const moves = DesiredTransition.Migrate === true ? ['moves'] : [];
  if (isOver({ ClientStatus })) return [...moves, ClientStatus];
  if (DesiredStatus !== 'run') return [...moves, 'stops'];
  return moves.length > 0 ? moves : [ClientStatus];
};
