import {
  type ConfigEntry,
  type ConfigKindName,
  configKinds,
  type EntryKey,
  entryFields,
  keyOfEntry,
} from '../../model/config-entry/config-entry.ts';
import {
  completeEntry,
  decodeEntry,
  type GivenEntry,
  placeOfKind,
} from '../../model/config-entry/entry.ts';
import { requireReadable } from '../../model/config-entry/entry-faults.ts';
import { hiddenSecret } from '../../model/config-entry/hidden-secret.ts';
import type { ConfigKind } from '../../model/config-entry/kind.ts';
import { findKind, kindOf } from '../../model/config-entry/kinds.ts';
import {
  readsEntry,
  readsKey,
  writesEntry,
  writesKey,
} from '../../model/config-entry/permissions.ts';
import {
  AnyEntrySchema,
  AnyShownEntrySchema,
  presentEntry,
  shownEntrySchema,
} from '../../model/config-entry/present.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import { quote } from '../../model/path.ts';
import { stamps, Type } from '../../model/schema.ts';
import { secretOf } from '../../server/config-entries/rows.ts';
import { findEntry } from '../../server/config-entries/view.ts';
import { applyEntry, deleteEntry } from '../../server/config-entries/write.ts';
import type { Server } from '../../server/server.ts';
import { configEntries } from '../../state/tables.ts';
import { type Input, listRoute, type Route, readRoute, type Scope, writeRoute } from '../route.ts';

const [family, noun] = ['registry', 'config-entry'] as const;
const path = '/v1/config/:kind/:name';

const guarded = (none: string) =>
  ({
    cas: {
      kind: 'integer',
      description: `Only if the entry has this ModifyIndex; 0: ${none}. Absent: in any case.`,
    },
    dry_run: {
      kind: 'boolean',
      default: false,
      description: 'Everything is checked, and nothing is kept.',
    },
  }) as const;

const [applyQuery, deleteQuery] = [guarded('only if there is none'), guarded('never')] as const;
type Apply = Input<typeof applyQuery, GivenEntry>;

/** What a filter over entries of all kinds sees. */
const CommonSchema = Type.Object({ ...entryFields, ...stamps });

/** Source: docs/contract/configuration.md#endpoints. */
export function configEntryRoutes(server: Server): Route[] {
  const { context } = server;
  const shown = (
    entry: ConfigEntry,
    { unwatched, allows }: Pick<Scope, 'unwatched' | 'allows'>,
  ) => {
    const { secret, isDerived } = kindOf(entry.Kind);
    if (secret === undefined || isDerived) return presentEntry(entry);
    const key = keyOfEntry(entry);
    const clear = allows(writesKey(key)) ? secretOf(context.box, unwatched, key) : hiddenSecret;
    return { ...presentEntry(entry), [secret]: clear };
  };
  return [
    writeRoute({
      ...{ method: 'PUT', path: '/v1/config', noun, family, query: applyQuery },
      summary: 'Make or replace a configuration entry',
      body: {
        ...{ schema: AnyEntrySchema(), unknown: 'refuse', decode: decodeEntry },
        bytesMax: limits.config.entryBytesMax,
      },
      answer: Type.Boolean(),
      permission: (input: Apply) =>
        writesEntry(requireReadable(input.body, completeEntry(input.body, input))),
      handle: async (input: Apply) => {
        const { cas: guard, dry_run: isDry } = input.query;
        const { namespace, partition, body } = input;
        const place = { namespace, partition };
        const reply = await applyEntry(context, place, body, { guard, isDry });
        return { ...reply, made: madeOf(completeEntry(body, place)) };
      },
    }),
    readRoute({
      ...{ method: 'GET', path, noun, family },
      summary: 'Read a configuration entry',
      blocking: true,
      answer: AnyShownEntrySchema(),
      permission: (input) => readsKey(keyOf(input)),
      handle: (input) => {
        const key = keyOf(input);
        const entry = findEntry(input.snapshot, key);
        if (entry !== undefined) return shown(entry, input);
        throw refusal('config-entry-not-found', key);
      },
    }),
    writeRoute({
      ...{ method: 'DELETE', path, noun, family, query: deleteQuery, answer: Type.Boolean() },
      summary: 'Delete a configuration entry',
      permission: (input) => writesKey(keyOf(input)),
      handle: (input: Input<typeof deleteQuery>) => {
        const { cas: guard, dry_run: isDry } = input.query;
        return deleteEntry(context, keyOf(input), { guard, isDry });
      },
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/config/:kind', noun, family },
      summary: 'List the configuration entries of a kind that the caller may read',
      blocking: true,
      answer: AnyShownEntrySchema(),
      filterSchema: (input) => shownEntrySchema(kindIn(input).kind),
      permission: (input) => {
        kindIn(input);
        return { kind: 'open' };
      },
      asksEach: true,
      visible: readsEntry,
      rows: (input, { from, reverse }) => {
        const kind = kindIn(input);
        const { namespace, partition } = placeOfKind(kind, input);
        const isAll = namespace === everyNamespace;
        const prefix = isAll ? [partition] : [partition, namespace, kind.kind];
        const table = input.snapshot.table(configEntries);
        return table.scan({ prefix, ...(from && { from }), reverse });
      },
      matches: ({ Kind }: ConfigEntry, { parameters }) => Kind === parameters.kind,
      keyOf: rowKey,
      record: withHiddenSecret,
      present: shown,
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/config', noun, family },
      summary: 'List the configuration entries of all kinds that the caller may read',
      blocking: true,
      answer: AnyShownEntrySchema(),
      filterSchema: CommonSchema,
      permission: () => ({ kind: 'open' }),
      asksEach: true,
      visible: readsEntry,
      rows: (input, { from, reverse }) => {
        const { namespace, partition } = input;
        const prefix = namespace === everyNamespace ? [partition] : [partition, namespace];
        const table = input.snapshot.table(configEntries);
        return table.scan({ prefix, ...(from && { from }), reverse });
      },
      keyOf: rowKey,
      present: shown,
    }),
  ];
}

/** @throws RosterError `config-kind-unknown` */
function kindIn({ parameters }: Pick<Scope, 'parameters'>): ConfigKind {
  const kind = findKind(parameters.kind!);
  if (kind !== undefined) return kind;
  const known = configKinds.join(', ');
  throw refusal('config-kind-unknown', {
    kind: quote(parameters.kind!).slice(1, -1),
    kinds: known,
  });
}

function keyOf(input: Pick<Scope, 'parameters' | 'namespace' | 'partition'>): EntryKey {
  const kind = kindIn(input);
  return { ...placeOfKind(kind, input), kind: kind.kind, name: input.parameters.name! };
}

const rowKey = ({ Partition, Namespace, Kind, Name }: ConfigEntry): readonly string[] => [
  ...[Partition, Namespace, Kind, Name],
];

/** No filter finds out what a secret is. */
function withHiddenSecret(entry: ConfigEntry): unknown {
  const { secret } = kindOf(entry.Kind);
  const shown = presentEntry(entry);
  return secret === undefined ? shown : { ...shown, [secret]: hiddenSecret };
}

const madeOf = ({ Kind, Name }: { readonly Kind: ConfigKindName; readonly Name: string }) => ({
  kind: Kind,
  name: Name,
});
