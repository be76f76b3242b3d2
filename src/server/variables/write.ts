import { instantFromMs } from '../../base/instant.ts';
import { RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Variable, VariableMetadata, VariableRequest } from '../../model/variable/variable.ts';
import { checkedItems } from '../../model/variable/variable-rules.ts';
import { inNamespace, variableItems, variables } from '../../state/tables.ts';
import type { Snapshot, Transaction, Written } from '../../state/types.ts';
import { requireRoom } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import { requireNamespace } from '../namespaces/find.ts';

/** A variable, and the condition under which it is changed. */
export interface VariableTarget {
  readonly namespace: string;
  readonly path: string;
  /**
   * The `ModifyIndex` that the caller has seen; 0: there is no such variable; `undefined`: no
   * condition.
   */
  readonly guard: number | undefined;
  /** Whether a conflict may show the caller the stored variable. */
  readonly mayKnow: boolean;
  /** Whether a conflict may also show the caller its items. */
  readonly mayRead: boolean;
}

/**
 * Makes a variable, or replaces its items.
 * @throws RosterError `id-mismatch`, `invalid-body`, `namespace-not-found`, `limit-reached`,
 * `variable-conflict`
 */
export async function writeVariable(
  { state, world, box }: ServerContext,
  target: VariableTarget,
  request: VariableRequest,
): Promise<Written<Variable>> {
  const { namespace: Namespace, path: Path } = target;
  const Items = checkedItems(Path, request);
  return state.write((transaction) => {
    requireNamespace(transaction, Namespace);
    const table = transaction.table(variables);
    const stored = table.get(...inNamespace(Namespace, Path));
    holdGuard(target, stored, () => itemsOf(box, transaction, target));
    if (stored === undefined) requireRoom('variable', table.size, limits.variable.countMax);
    const ModifyTime = instantFromMs(world.clock.nowMs());
    const CreateTime = stored?.CreateTime ?? ModifyTime;
    const metadata = table.put({ Namespace, Path, CreateTime, ModifyTime });
    transaction
      .table(variableItems)
      .put({ Namespace, Path, Sealed: box.seal(JSON.stringify(Items)) });
    return { ...metadata, Items };
  });
}

/** `false`: there was no such variable. @throws RosterError `variable-conflict` */
export async function deleteVariable(
  { state, box }: ServerContext,
  target: VariableTarget,
): Promise<Written<boolean>> {
  return state.write((transaction) => {
    const key = inNamespace(target.namespace, target.path);
    const stored = transaction.table(variables).get(...key);
    holdGuard(target, stored, () => itemsOf(box, transaction, target));
    return forget(transaction, key);
  });
}

function forget(transaction: Transaction, key: readonly string[]): boolean {
  transaction.table(variableItems).delete(...key);
  return transaction.table(variables).delete(...key);
}

/**
 * The variable with its items. `snapshot` tracks the read of the row. The items are read untracked,
 * since their rows also change when they are sealed anew. @throws RosterError `variable-not-found`
 */
export function readVariable(
  { box }: Pick<ServerContext, 'box'>,
  { snapshot, unwatched }: { readonly snapshot: Snapshot; readonly unwatched: Snapshot },
  namespace: string,
  path: string,
): Variable {
  const key = inNamespace(namespace, path);
  const metadata = snapshot.table(variables).get(...key);
  if (metadata === undefined) throw refusal('variable-not-found', { path, namespace });
  return { ...metadata, Items: itemsOf(box, unwatched, { namespace, path }) };
}

function itemsOf(
  box: ServerContext['box'],
  snapshot: Snapshot,
  { namespace, path }: Pick<VariableTarget, 'namespace' | 'path'>,
): Variable['Items'] {
  const { Sealed } = snapshot.table(variableItems).get(...inNamespace(namespace, path))!;
  return JSON.parse(box.open(Sealed)) as Variable['Items'];
}

/**
 * A conflict shows the stored variable to callers who may list it, and its items to callers who may
 * read it.
 */
function holdGuard(
  target: VariableTarget,
  stored: VariableMetadata | undefined,
  items: () => Variable['Items'],
): void {
  const { guard, path, mayKnow, mayRead } = target;
  const actual = stored?.ModifyIndex ?? 0;
  if (guard === undefined || guard === actual) return;
  const what = stored === undefined ? 'is not there' : `has the ModifyIndex ${actual}`;
  const reason = mayKnow ? what : 'has another ModifyIndex, or is not there';
  const { code, detail } = refusal('variable-conflict', { path, index: guard, reason });
  const told = stored && mayRead ? { ...stored, Items: items() } : stored;
  throw new RosterError(code, detail, [], mayKnow ? told : undefined);
}
