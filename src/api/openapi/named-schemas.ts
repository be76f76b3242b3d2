import type { TSchema } from 'typebox';

export type Json = Readonly<Record<string, unknown>>;

/** How a schema is shown to readers of one kind: without what they may not see, and the like. */
export type Presentation = (schema: Json, inner: (schema: unknown) => Json) => Json;

/**
 * Puts a reference wherever the schema of a named noun stands, and keeps what the names stand for. The
 * same noun may be shown in several ways, each with a suffix of its own: `Job`, `JobRequest`.
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
        // Its place is kept while what stands in it is made: a noun may hold itself.
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

  /** What a reference means. */
  readonly resolve = (reference: string): Json =>
    this.#definitions.get(reference.slice('#/components/schemas/'.length)) ?? {};

  get definitions(): Json {
    const sorted = [...this.#definitions].sort(([left], [right]) => (left < right ? -1 : 1));
    return Object.fromEntries(sorted);
  }
}

/** A schema with a description is another object; its properties are the same. */
const keyOf = (schema: unknown): unknown => (schema as Json).properties ?? schema;
