/** The OpenAPI document with references replaced by their schemas. */
// biome-ignore lint/suspicious/noExplicitAny: the document is read as whoever generates from it does.
export function withoutReferences(document: any): any {
  const { schemas } = document.components;
  const inlined = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inlined);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref: reference, ...rest } = part as { readonly $ref?: string };
    const fields = Object.entries(rest).map(([name, value]) => [name, inlined(value)]);
    const named = reference === undefined ? {} : inlined(schemas[reference.split('/').at(-1)!]);
    return { ...(named as object), ...Object.fromEntries(fields) };
  };
  return { ...document, paths: inlined(document.paths) };
}
