import { instantFromMs } from '../../../base/instant.ts';
import type { World } from '../../../base/ports.ts';
import { type Evaluation, isTerminalEvaluation } from '../../../model/evaluation/evaluation.ts';
import { evaluations, inNamespace } from '../../../state/tables.ts';
import type { Transaction } from '../../../state/types.ts';

/** Cancels the evaluations that have not ended. */
export function cancelAll(
  transaction: Transaction,
  { world }: { readonly world: Pick<World, 'clock'> },
  list: readonly Evaluation[],
  StatusDescription: string,
): void {
  const table = transaction.table(evaluations);
  for (const { Namespace, ID } of list) {
    const stored = table.get(...inNamespace(Namespace, ID));
    if (stored === undefined || isTerminalEvaluation(stored)) continue;
    const ModifyTime = instantFromMs(world.clock.nowMs());
    table.put({ ...stored, Status: 'canceled', StatusDescription, ModifyTime });
  }
}
