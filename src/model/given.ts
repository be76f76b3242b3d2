/** The fields of a record that are neither absent nor null. */
export function given<T extends object>(record: T | null | undefined): GivenOf<T> {
  const fields: Record<string, unknown> = {};
  for (const name in record) {
    const value = record[name];
    if (value !== null && value !== undefined) fields[name] = value;
  }
  return fields as GivenOf<T>;
}

export type GivenOf<T> = { readonly [K in keyof T]?: NonNullable<T[K]> };
