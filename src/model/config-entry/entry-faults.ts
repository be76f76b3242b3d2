/** The faults of a configuration entry by itself: in its form, its place and its content. */
import { checkValues } from '../check-values.ts';
import { type Fault, invalid, withKnown } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { checkPlaceName } from '../text-rules.ts';
import { type ConfigEntry, type ConfigEntryRequest, everyService } from './config-entry.ts';
import type { GivenEntry } from './entry.ts';
import { faultsOf } from './faults.ts';
import type { ConfigKind } from './kind.ts';
import { kindOf } from './kinds.ts';

/** All faults of the entry, and of the place that the request gives it. */
export function entryFaults(given: GivenEntry, entry: ConfigEntry): readonly Fault[] {
  const kind = kindOf(entry.Kind);
  const bounds = boundFaults(entry, null);
  const simple = [
    ...nameFaults(kind, entry),
    ...placeFaults(given.request, entry),
    ...metaFaults(entry),
    ...checkValues(kind.schema, entry),
    ...bounds,
  ];
  const known = withKnown(given.faults, simple);
  // Rules of some kinds compare every item of a list with the others, so they run only if the bounds hold.
  const all = bounds.length > 0 ? known : withKnown(known, kind.faults?.(entry) ?? []);
  return all.slice(0, limits.fault.listedMax);
}

/**
 * An entry that permissions can be checked for: every field could be read, and it has a name.
 * @throws RosterError `invalid-body` with all faults
 */
export function requireReadable(given: GivenEntry, entry: ConfigEntry): ConfigEntry {
  if (given.faults.length === 0 && entry.Name !== '') return entry;
  throw invalid('invalid-body', entryFaults(given, entry));
}

function nameFaults(kind: ConfigKind, { Name, Partition }: ConfigEntry): readonly Fault[] {
  const path = below(null, 'Name');
  const only = kind.onlyName?.(Partition);
  if (only !== undefined) {
    return Name === only ? [] : [faultAt(path, `must be ${quote(only)}, got ${quote(Name)}`)];
  }
  if (Name === everyService && !kind.allowsEvery) {
    return [faultAt(path, 'must be a single name: this kind does not allow "*"')];
  }
  // The checks of bounds report a faulty length and NUL.
  if (Name.length > limits.names.lengthMax || Name.includes('\0')) return [];
  const around = Name.trim() === Name ? [] : [faultAt(path, 'must not begin or end with a blank')];
  return [...faultsOf((report) => checkPlaceName(Name, path, report)), ...around];
}

/** The place in an entry that was read may be sent back; it must be the place of the request. */
function placeFaults(request: ConfigEntryRequest, entry: ConfigEntry): readonly Fault[] {
  return (['Namespace', 'Partition'] as const).flatMap((field) => {
    const given = request[field];
    if (!given || given === entry[field]) return [];
    const parameter = field === 'Namespace' ? 'ns' : 'partition';
    const rule = `must be that of the request, ${quote(entry[field])}, and is ${quote(given)}`;
    const way = `give it as ${parameter}= of the request`;
    return [faultAt(below(null, field), `${rule}: ${way}`)];
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

/**
 * Names become parts of keys, which end in NUL, and lists and objects are bounded so that checks end soon.
 */
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
