import { compileFilter, FilterError, type JsonSchema } from '../../language/filter/filter.ts';
import type { TypedConfig } from './config.ts';

/**
 * The verified identity of a login. Selectors read `fields`; `${…}` in bind names reads `variables`.
 * Source: docs/behaviour/access-control.md#identities-of-logins.
 */
export interface Identity {
  /** `{ value: { … }, list: { … } }` or `{ serviceaccount: { … } }`. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
  /** Values by variable: `value.team`, `serviceaccount.name`. */
  readonly variables: ReadonlyMap<string, string>;
}

/** The fields that identities of a method can have. They are known before any login. */
export interface IdentityShape {
  readonly schema: JsonSchema;
  readonly variables: readonly string[];
}

const text = { type: 'string' };
const texts = { type: 'array', items: text };

const serviceAccountFields = ['namespace', 'name', 'uid'] as const;

export function identityShape(typed: TypedConfig): IdentityShape {
  if (typed.type === 'kubernetes') {
    return {
      schema: objectOf({ serviceaccount: objectOf(each(serviceAccountFields, text)) }),
      variables: serviceAccountFields.map((name) => `serviceaccount.${name}`),
    };
  }
  const values = Object.values(typed.config.ClaimMappings);
  const lists = Object.values(typed.config.ListClaimMappings);
  return {
    schema: objectOf({ value: objectOf(each(values, text)), list: objectOf(each(lists, texts)) }),
    variables: values.map((name) => `value.${name}`),
  };
}

const each = (names: readonly string[], schema: object) =>
  Object.fromEntries(names.map((name) => [name, schema]));

const objectOf = (properties: object) => ({
  type: 'object',
  properties,
  additionalProperties: false,
});

export type Claims = Readonly<Record<string, unknown>>;

/**
 * The identity of verified claims, or a sentence that says how the claims are at fault. An absent claim is
 * empty, so that selectors can ask for it.
 */
export function identityOfClaims(
  typed: Extract<TypedConfig, { type: 'jwt' | 'oidc' }>,
  claims: Claims,
): Identity | string {
  const { ClaimMappings, ListClaimMappings } = typed.config;
  const value: [string, string][] = [];
  const list: [string, readonly string[]][] = [];
  for (const [claim, name] of Object.entries(ClaimMappings)) {
    const found = textOf(claimAt(claims, claim) ?? '');
    if (found === undefined) return `the claim "${claim}" is neither text, number nor boolean`;
    value.push([name, found]);
  }
  for (const [claim, name] of Object.entries(ListClaimMappings)) {
    const found = claimAt(claims, claim) ?? [];
    const items = (Array.isArray(found) ? found : [found]).map(textOf);
    if (items.includes(undefined)) return `the claim "${claim}" is no list of texts`;
    list.push([name, items as string[]]);
  }
  return {
    fields: { value: Object.fromEntries(value), list: Object.fromEntries(list) },
    variables: new Map(value.map(([name, one]) => [`value.${name}`, one])),
  };
}

export function identityOfServiceAccount(account: {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}): Identity {
  const names = serviceAccountFields.map((field) => [field, account[field]] as const);
  return {
    fields: { serviceaccount: Object.fromEntries(names) },
    variables: new Map(names.map(([field, value]) => [`serviceaccount.${field}`, value])),
  };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** A top-level claim by its name, or a deeper claim by its JSON pointer (RFC 6901). */
export function claimAt(claims: Claims, place: string): unknown {
  if (Object.hasOwn(claims, place)) return claims[place];
  if (!place.startsWith('/')) return undefined;
  let at: unknown = claims;
  for (const part of place.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** The fault of a selector; `undefined` if it has none. */
export function selectorFault(selector: string, { schema }: IdentityShape): string | undefined {
  try {
    compileFilter(selector, schema);
    return undefined;
  } catch (error) {
    if (error instanceof FilterError) return error.message;
    throw error;
  }
}

/** A selector that cannot be evaluated matches nothing. */
export function selects(selector: string, { schema }: IdentityShape, identity: Identity): boolean {
  try {
    return compileFilter(selector, schema)(identity.fields);
  } catch (error) {
    if (error instanceof FilterError) return false;
    throw error;
  }
}
