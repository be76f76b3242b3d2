import { assert } from '../base/assert.ts';
import type { Permission } from '../model/permission/permission.ts';
import { type Asked, type Needs, type PermissionForm, permissionBy } from './needs.ts';

/**
 * The permission to see a record of a list: a form that the record fills (`from-row`), or a named function of
 * the record. Every record is checked, unless the function says otherwise.
 *
 * A list without it whose permission is a `listing` shows with `namespace=*` the records of the namespaces in
 * which the caller has that permission.
 */
export type Visible = PermissionForm | DecidedByRow;

// biome-ignore lint/suspicious/noExplicitAny: the row is the endpoint's own.
export interface DecidedByRow<R = any> {
  readonly kind: 'decided-by-row';
  readonly says: string;
  readonly decide: (row: R) => Permission;
  /** Records are checked with `namespace=*` only: in a single namespace the permission of the list says all. */
  readonly acrossNamespaces?: true;
}

export const decidedByRow = <R>(
  says: string,
  decide: (row: R) => Permission,
  options: Pick<DecidedByRow, 'acrossNamespaces'> = {},
): DecidedByRow<R> => ({ kind: 'decided-by-row', says, decide, ...options });

/** The fields of a record that decide whether it is seen. */
export type RowOf<E> = E extends { readonly visible: infer V } ? RowFor<V> : unknown;

type RowFor<V> =
  V extends DecidedByRow<infer R>
    ? R
    : (V extends { readonly namespace: 'from-row' } ? { readonly Namespace: string } : unknown) &
        (V extends { readonly name: `from-row:${infer Name}` }
          ? { readonly [K in Name]: string }
          : unknown);

export interface RowCheck {
  readonly permissionFor: (row: unknown) => Permission;
  /** Records are checked with `namespace=*` only. */
  readonly acrossNamespaces: boolean;
}

interface OfList {
  readonly visible?: Visible;
  readonly permission: Needs;
}

/** `undefined`: callers who may list see every record. */
export function rowCheckOf({ visible, permission }: OfList): RowCheck | undefined {
  if (visible === undefined) {
    const form = listingIn(permission);
    return form && { permissionFor: byRow(form), acrossNamespaces: true };
  }
  if (visible.kind !== 'decided-by-row') {
    return { permissionFor: byRow(visible), acrossNamespaces: false };
  }
  const { decide, acrossNamespaces = false } = visible;
  return { permissionFor: decide, acrossNamespaces };
}

function listingIn(needs: Needs): PermissionForm | undefined {
  if (needs.kind === 'listing') return needs.of;
  if (needs.kind === 'access-control') return listingIn(needs.of);
  return needs.kind === 'all' ? needs.of.map(listingIn).find(Boolean) : undefined;
}

function byRow(form: PermissionForm): (row: unknown) => Permission {
  const permissionOf = permissionBy(form);
  return (row) => {
    const { Namespace: namespace = '', Partition: partition = '' } = row as {
      readonly Namespace?: string;
      readonly Partition?: string;
    };
    assert(form.kind === 'named' || namespace !== '', 'a row without a namespace is in a listing');
    return permissionOf({ namespace, partition, body: row } as Asked);
  };
}
