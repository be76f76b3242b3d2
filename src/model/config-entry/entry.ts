/**
 * A configuration entry from what a caller sent: first its form, which permissions can be asked by
 * (`decodeEntry`, `completeEntry`), then its content (`entry-faults.ts`).
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
  /** Of its form, to be told together with those of its content. */
  readonly faults: readonly Fault[];
}

/**
 * Fields may be written in any case and in snake_case; `kind` says which there are.
 * @throws RosterError `invalid-body` when that is nothing of a kind
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
 * Fields that other servers add to an entry. They are ignored, so that it can be sent here as it was read
 * there.
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

/** Where entries of the kind live that are meant to be in the place. */
export const placeOfKind = (kind: ConfigKind, { namespace, partition }: Scope): Scope => ({
  namespace: kind.ofPartition ? 'default' : namespace,
  partition,
});

/** The whole entry in its one spelling, whether it is right or not. */
export function completeEntry({ kind, request }: GivenEntry, scope: Scope): ConfigEntry {
  const { namespace: Namespace, partition: Partition } = placeOfKind(kind, scope);
  const whole = complete(kind.schema, request as never) as unknown as ConfigEntry;
  const Name = whole.Name || kind.onlyName?.(Partition) || '';
  const entry = { ...whole, Kind: kind.kind, Name, Namespace, Partition };
  return kind.normalize?.(entry) ?? entry;
}

/** The entry as it is kept, once it is right. */
export const arrangedEntry = (entry: ConfigEntry): ConfigEntry =>
  kindOf(entry.Kind).arrange?.(entry) ?? entry;

/** The fields of a kind that only the server sets, beside the stamps: `Status` of a gateway. */
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
