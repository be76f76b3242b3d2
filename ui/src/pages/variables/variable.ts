import { href } from '../../app/router.svelte.ts';

export const variableHref = (variable: {
  readonly Namespace: string;
  readonly Path: string;
}): string => href('/variables/item', {}, { namespace: variable.Namespace, path: variable.Path });

export interface Item {
  name: string;
  value: string;
}

export const itemsOf = (items: Readonly<Record<string, string>>): Item[] =>
  Object.entries(items).map(([name, value]) => ({ name, value }));

/** Rows without a name are left out. */
export const bodyOf = (items: readonly Item[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    items.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]),
  );

/** A name that several rows have: the later would silently win. */
export function repeated(items: readonly Item[]): string | undefined {
  const names = items.map(({ name }) => name).filter((name) => name !== '');
  return names.find((name, index) => names.indexOf(name) !== index);
}
