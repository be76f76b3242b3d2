import type { TSchema } from 'typebox';

export type Json = Readonly<Record<string, unknown>>;

/** Writes a schema for its readers, for example without hidden fields. */
export type Presentation = (schema: Json, inner: (schema: unknown) => Json) => Json;

/**
 * Replaces the schemas of nouns by references and collects their definitions. The forms of a noun
 * have suffixes: `Job`, `JobRequest`.
 */
export class NamedSchemas {
  readonly #names = new Map<unknown, string>();
  readonly #definitions = new Map<string, Json | undefined>();

  constructor(named: Readonly<Record<string, TSchema>>) {
    for (const [name, schema] of Object.entries(named)) this.#names.set(keyOf(schema), name);
  }

  present(schema: TSchema, suffix: string, presentation: Presentation): Json {
    const show = (given: unknown): Json => {
      const one = given as Json;
      const own = this.#names.get(keyOf(one));
      const inner = (part: unknown) => show(part);
      if (own === undefined) return presentation(one, inner);
      const name = `${own}${suffix}`;
      if (!this.#definitions.has(name)) {
        // Reserves the name first, because a noun may contain itself.
        this.#definitions.set(name, undefined);
        const { description: _, ...definition } = presentation(one, inner);
        this.#definitions.set(name, definition);
      }
      const { description } = one;
      return {
        $ref: `#/components/schemas/${name}`,
        ...(description !== undefined && { description }),
      };
    };
    return show(schema);
  }

  /** The schema of a reference. */
  readonly resolve = (reference: string): Json =>
    this.#definitions.get(reference.slice('#/components/schemas/'.length)) ?? {};

  get definitions(): Json {
    const sorted = [...this.#definitions].sort(([left], [right]) => (left < right ? -1 : 1));
    return Object.fromEntries(sorted);
  }
}

/** Schemas that differ only in their description share their properties. */
const keyOf = (schema: unknown): unknown => (schema as Json).properties ?? schema;
