/** The fields of a record that were given: without those that are absent or null. */
export function given<T extends object>(record: T | null | undefined): GivenOf<T> {
  const fields = Object.entries(record ?? {}).filter(([, value]) => value != null);
  return Object.fromEntries(fields) as GivenOf<T>;
}

export type GivenOf<T> = { readonly [K in keyof T]?: NonNullable<T[K]> };
