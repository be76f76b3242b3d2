import { configKinds, type EntryKey, entryFields } from '../model/config-entry/config-entry.ts';
import {
  completeEntry,
  decodeEntry,
  type GivenEntry,
  placeOfKind,
} from '../model/config-entry/entry.ts';
import { requireReadable } from '../model/config-entry/entry-faults.ts';
import type { ConfigKind } from '../model/config-entry/kind.ts';
import { findKind } from '../model/config-entry/kinds.ts';
import { readsEntry, readsKey, writesEntry, writesKey } from '../model/config-entry/permissions.ts';
import { AnyEntrySchema, AnyShownEntrySchema } from '../model/config-entry/present.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { quote } from '../model/path.ts';
import { open } from '../model/permission/permission.ts';
import { stamps, Type } from '../model/schema.ts';
import { endpoints, typed, written } from './endpoint.ts';
import { type Asked, decided, nothing } from './needs.ts';
import { flag, guard } from './query.ts';
import { sortsOf } from './sorts.ts';
import { decidedByRow } from './visible.ts';

/** An entry in an answer. Durations are texts; other fields depend on the kind. */
export interface ShownConfigEntry {
  readonly Kind: string;
  readonly Name: string;
  readonly Namespace: string;
  readonly Partition: string;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly [field: string]: unknown;
}

const guarded = (none: string) =>
  ({
    ...guard('entry', `${none}. Absent: in any case`),
    dry_run: flag('Check everything and change nothing.'),
  }) as const;

/** The schema of filters over entries of all kinds. */
const CommonSchema = Type.Object({ ...entryFields, ...stamps });

/** @throws RosterError `config-kind-unknown` */
export function kindIn({ parameters }: Pick<Asked, 'parameters'>): ConfigKind {
  const kind = findKind(parameters.kind!);
  if (kind !== undefined) return kind;
  const known = configKinds.join(', ');
  throw refusal('config-kind-unknown', {
    kind: quote(parameters.kind!).slice(1, -1),
    kinds: known,
  });
}

export function keyOf(input: Pick<Asked, 'parameters' | 'namespace' | 'partition'>): EntryKey {
  const kind = kindIn(input);
  return { ...placeOfKind(kind, input), kind: kind.kind, name: input.parameters.name! };
}

const writesGiven = decided(
  'the permission of the kind to write the entry, and to read the services that it names',
  (asked: Asked<unknown, GivenEntry>) =>
    writesEntry(requireReadable(asked.body, completeEntry(asked.body, asked))),
);
const readsNamed = decided('the permission of the kind to read the entry', (asked: Asked) =>
  readsKey(keyOf(asked)),
);
const writesNamed = decided('the permission of the kind to write the entry', (asked: Asked) =>
  writesKey(keyOf(asked)),
);
const eachEntry = decidedByRow('the right to read entries of its kind', readsEntry);
const ofAKnownKind = decided('nothing: entries are shown to whom they may be', (asked: Asked) => {
  kindIn(asked);
  return open;
});

export const configEntryEndpoints = endpoints(
  { group: 'config-entries', noun: 'config-entry', family: 'registry' },
  {
    write: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/config',
      summary: 'Create or replace a configuration entry',
      query: guarded('only if there is none'),
      body: {
        example: { Kind: 'service-defaults', Name: 'web', Protocol: 'http' },
        schema: written<GivenEntry, object>(AnyEntrySchema()),
        unknown: 'refuse',
        decode: decodeEntry,
        bytesMax: limits.config.entryBytesMax,
      },
      answer: Type.Boolean(),
      permission: writesGiven,
    },
    read: {
      kind: 'read',
      path: '/v1/config/:kind/:name',
      summary: 'Read a configuration entry',
      blocking: true,
      answer: typed<ShownConfigEntry>(AnyShownEntrySchema()),
      permission: readsNamed,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/config/:kind/:name',
      summary: 'Delete a configuration entry',
      query: guarded('never'),
      answer: Type.Boolean(),
      permission: writesNamed,
    },
    listKind: {
      kind: 'list',
      path: '/v1/config/:kind',
      summary: 'List the configuration entries of a kind that the caller may read',
      blocking: true,
      answer: typed<ShownConfigEntry>(AnyShownEntrySchema()),
      permission: ofAKnownKind,
      visible: eachEntry,
    },
    list: {
      kind: 'list',
      path: '/v1/config',
      summary: 'List the configuration entries of all kinds that the caller may read',
      blocking: true,
      answer: typed<ShownConfigEntry>(AnyShownEntrySchema()),
      filter: CommonSchema,
      sorts: sortsOf.configEntries,
      permission: nothing,
      visible: eachEntry,
    },
  },
);
