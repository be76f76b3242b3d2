import { router } from './router.svelte.ts';

/**
 * A value that stands in the query of the address: filter, sort, tab, selection. A link to the page gives the same
 * view. `push` makes each value a step of "back", which suits tabs; typing into a filter replaces the entry.
 */
export function addressState<T extends string>(
  name: string,
  fallback: NoInfer<T>,
  options: { readonly push?: boolean } = {},
): { value: T } {
  return {
    get value() {
      return (router.query(name) ?? fallback) as T;
    },
    set value(value: T) {
      if (value === this.value) return;
      router.setQuery(name, value === fallback ? undefined : value, options);
    },
  };
}
