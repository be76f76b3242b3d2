/**
 * A configuration entry from what a caller sent: first its form, which permissions can be asked by
 * (`decodeEntry`, `completeEntry`), then its content (`entryFaults`). Source: facts/registry.md §5.1.
 */
import { checkValues } from '../check-values.ts';
import { decode } from '../codec.ts';
import { complete } from '../complete.ts';
import { type Fault, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Scope } from '../namespace/namespace.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { isResponseOnly, shapeOf } from '../schema-shape.ts';
import { checkName } from '../text-rules.ts';
import {
  type ConfigEntry,
  type ConfigEntryRequest,
  configKinds,
  everyService,
} from './config-entry.ts';
import type { ConfigKind } from './kind.ts';
import { findKind, kindOf } from './kinds.ts';

/** An entry as it was sent, its fields under the names of its schema. */
export interface GivenEntry {
  readonly kind: ConfigKind;
  readonly request: ConfigEntryRequest;
}

/**
 * Fields may be written in any case and in snake_case; `kind` says which there are.
 * @throws RosterError `invalid-body` with all faults
 */
export function decodeEntry(body: unknown): GivenEntry {
  const kind = kindIn(body);
  const { value } = decode(kind.schema, body, {
    ...{ unknown: 'refuse', snakeCase: true, checkValues: false },
  });
  return { kind, request: value as ConfigEntryRequest };
}

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

/** Everything wrong with the entry, and with where it says that it lives. */
export function entryFaults({ request }: GivenEntry, entry: ConfigEntry): readonly Fault[] {
  const kind = kindOf(entry.Kind);
  const bounds = boundFaults(entry, null);
  return [
    ...nameFaults(kind, entry),
    ...placeFaults(request, entry),
    ...metaFaults(entry),
    ...checkValues(kind.schema, entry),
    ...bounds,
    // Some of a kind's rules compare every item of a list with the others.
    ...(bounds.length === 0 ? (kind.faults?.(entry) ?? []) : []),
  ].slice(0, limits.fault.listedMax);
}

function nameFaults(kind: ConfigKind, { Name, Partition }: ConfigEntry): readonly Fault[] {
  const path = below(null, 'Name');
  const faults: Fault[] = [];
  const only = kind.onlyName?.(Partition);
  if (only !== undefined) {
    return Name === only ? [] : [faultAt(path, `must be ${quote(only)}, got ${quote(Name)}`)];
  }
  // Length and NUL are told with the other bounds.
  if (Name === '') checkName(Name, path, (at, message) => faults.push(faultAt(at, message)));
  if (Name === everyService && !kind.allowsEvery) {
    faults.push(faultAt(path, 'must be the name of one: "*" is not for this kind'));
  }
  return faults;
}

/** What was read can be sent back, but says nothing of where it goes. */
function placeFaults(request: ConfigEntryRequest, entry: ConfigEntry): readonly Fault[] {
  return (['Namespace', 'Partition'] as const).flatMap((field) => {
    const given = request[field];
    if (!given || given === entry[field]) return [];
    const message = `must be that of the request, ${quote(entry[field])}, and is ${quote(given)}`;
    return [faultAt(below(null, field), message)];
  });
}

function metaFaults({ Meta }: ConfigEntry): readonly Fault[] {
  const path = below(null, 'Meta');
  const pairs = Object.entries(Meta ?? {});
  const { metaPairsMax, metaKeyLengthMax, metaValueLengthMax } = limits.config;
  if (pairs.length > metaPairsMax) {
    return [faultAt(path, `has ${pairs.length} entries; at most ${metaPairsMax} are kept`)];
  }
  return pairs.flatMap(([key, value]) => {
    if (key !== '' && key.length <= metaKeyLengthMax && value.length <= metaValueLengthMax) {
      return [];
    }
    const rule = `must be a name of 1 to ${metaKeyLengthMax} and a text of at most ${metaValueLengthMax} characters`;
    return [faultAt(below(path, key.slice(0, limits.fault.quotedLengthMax)), rule)];
  });
}

/** Names become parts of keys, which end in NUL; and no list or object is longer than one can look through. */
function boundFaults(value: unknown, path: Path): readonly Fault[] {
  if (typeof value === 'string') {
    return value.includes('\0') ? [faultAt(path, 'must not hold a NUL character')] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const { itemsMax } = limits.config;
  if (Array.isArray(value)) {
    if (value.length > itemsMax) {
      return [faultAt(path, `has ${value.length} items; at most ${itemsMax} are kept`)];
    }
    return value.flatMap((item, index) => boundFaults(item, below(path, index)));
  }
  const members = Object.entries(value);
  if (members.length > itemsMax) {
    return [faultAt(path, `has ${members.length} members; at most ${itemsMax} are kept`)];
  }
  return members.flatMap(([key, one]) => {
    const at = below(path, key);
    return key.includes('\0')
      ? [faultAt(at, 'must have a name without NUL')]
      : boundFaults(one, at);
  });
}

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
