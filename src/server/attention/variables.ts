import type { SecretBox } from '../../base/secret-box.ts';
import { limits } from '../../model/limits.ts';
import { namedAccess } from '../../model/permission/permission.ts';
import { bytesOfItems } from '../../model/variable/variable-rules.ts';
import { inNamespace, variableItems } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Finding } from './finding.ts';

/** A variable near the greatest size, or the greatest number of items. Nothing of its items is told. */
export function findingsOfVariable(
  snapshot: Snapshot,
  box: Pick<SecretBox, 'open'>,
  { namespace, path }: { readonly namespace: string; readonly path: string },
): Finding[] {
  const row = snapshot.table(variableItems).get(...inNamespace(namespace, path));
  const { itemsBytesMax, itemsMax } = limits.variable;
  const { limitShare } = limits.attention;
  // A sealed text is longer than what it holds, so a short one need not be opened.
  const isSmall = (row?.Sealed.length ?? 0) < itemsMax * limitShare * fewestCharacters;
  if (row === undefined || isSmall) return [];
  const items = JSON.parse(box.open(row.Sealed)) as Readonly<Record<string, string>>;
  const near = [
    [bytesOfItems(items), itemsBytesMax, 'bytes'],
    [Object.keys(items).length, itemsMax, 'items'],
  ] as const;
  const parts = near
    .filter(([count, most]) => count >= most * limitShare)
    .map(([count, most, words]) => `${count} of at most ${most} ${words}`);
  if (parts.length === 0) return [];
  return [
    {
      Kind: 'limit-near',
      Severity: 'notice',
      Noun: 'variable',
      ID: path,
      Name: path,
      Namespace: namespace,
      JobID: '',
      sinceMs: 0,
      Reason: `The variable has ${parts.join(' and ')}`,
      permission: namedAccess('variable', 'list', path, { namespace }),
    },
  ];
}

/** Not in limits: the length of an item in JSON, `"a":"",`. */
const fewestCharacters = 7;
