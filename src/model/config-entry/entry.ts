/**
 * Makes a configuration entry of a caller's body. First its form is read, for which permissions can be
 * checked (`decodeEntry`, `completeEntry`), then its content is checked (`entry-faults.ts`).
 * Source: docs/behaviour/configuration.md#forms-of-an-entry.
 */
import { decodeInPart } from '../codec.ts';
import { complete } from '../complete.ts';
import { type Fault, invalid } from '../errors.ts';
import type { Scope } from '../namespace/namespace.ts';
import { below, faultAt, quote } from '../path.ts';
import { isResponseOnly, shapeOf } from '../schema-shape.ts';
import { type ConfigEntry, type ConfigEntryRequest, configKinds } from './config-entry.ts';
import type { ConfigKind } from './kind.ts';
import { findKind, kindOf } from './kinds.ts';

/** An entry as it was sent, its fields under the names of its schema. */
export interface GivenEntry {
  readonly kind: ConfigKind;
  readonly request: ConfigEntryRequest;
  /** Faults of the form, told together with the faults of the content. */
  readonly faults: readonly Fault[];
}

/**
 * Decodes an entry. Fields may be written in any case and in snake_case; `kind` decides which fields exist.
 * @throws RosterError `invalid-body` if the kind is missing or unknown
 */
export function decodeEntry(body: unknown): GivenEntry {
  const kind = kindIn(body);
  const fields = Object.entries(body as object).filter(
    ([key]) => !passedOver.has(key.toLowerCase()),
  );
  const { value, faults } = decodeInPart(kind.schema, Object.fromEntries(fields), {
    unknown: 'refuse',
    snakeCase: true,
    checkValues: false,
  });
  return { kind, request: value as ConfigEntryRequest, faults };
}

/**
 * Fields that other servers add to an entry. They are ignored, so that an entry that was read there can be
 * sent here.
 */
const passedOver: ReadonlySet<string> = new Set(['hash']);

function kindIn(body: unknown): ConfigKind {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid('invalid-body', [faultAt(null, 'must be an object')]);
  }
  const given = Object.entries(body).find(([key]) => key.toLowerCase() === 'kind')?.[1];
  const refuse = (message: string) =>
    invalid('invalid-body', [faultAt(below(null, 'Kind'), message)]);
  const choices = configKinds.join(', ');
  if (given === undefined || given === null || given === '') {
    throw refuse(`is required: one of ${choices}`);
  }
  if (typeof given !== 'string') throw refuse(`must be a string: one of ${choices}`);
  const kind = findKind(given);
  if (kind === undefined) throw refuse(`must be one of ${choices}, got ${quote(given)}`);
  return kind;
}

/** The scope of entries of the kind that are written to the place. */
export const placeOfKind = (kind: ConfigKind, { namespace, partition }: Scope): Scope => ({
  namespace: kind.ofPartition ? 'default' : namespace,
  partition,
});

/** The whole entry in canonical form, whether it is right or not. */
export function completeEntry({ kind, request }: GivenEntry, scope: Scope): ConfigEntry {
  const { namespace: Namespace, partition: Partition } = placeOfKind(kind, scope);
  const whole = complete(kind.schema, request as never) as unknown as ConfigEntry;
  const Name = whole.Name || kind.onlyName?.(Partition) || '';
  const entry = { ...whole, Kind: kind.kind, Name, Namespace, Partition };
  return kind.normalize?.(entry) ?? entry;
}

/** The entry as it is stored, once it is right. */
export const arrangedEntry = (entry: ConfigEntry): ConfigEntry =>
  kindOf(entry.Kind).arrange?.(entry) ?? entry;

/** The fields of a kind that only the server sets, such as `Status` of a gateway, without the stamps. */
export function derivedFieldsOf(kind: ConfigKind): readonly string[] {
  let fields = derivedFields.get(kind);
  if (fields === undefined) {
    const shape = shapeOf(kind.schema);
    const all = shape.kind === 'record' ? Object.entries(shape.properties) : [];
    fields = all
      .filter(([name, property]) => isResponseOnly(property) && !stampNames.has(name))
      .map(([name]) => name);
    derivedFields.set(kind, fields);
  }
  return fields;
}
const derivedFields = new WeakMap<ConfigKind, readonly string[]>();
const stampNames: ReadonlySet<string> = new Set(['CreateIndex', 'ModifyIndex']);
