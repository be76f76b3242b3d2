import {
  configEntryEndpoints as contract,
  keyOf,
  kindIn,
  type ShownConfigEntry,
} from '../../contract/config-entry.ts';
import {
  type ConfigEntry,
  type ConfigKindName,
  keyOfEntry,
} from '../../model/config-entry/config-entry.ts';
import { completeEntry, placeOfKind } from '../../model/config-entry/entry.ts';
import { hiddenSecret } from '../../model/config-entry/hidden-secret.ts';
import { kindOf } from '../../model/config-entry/kinds.ts';
import { writesKey } from '../../model/config-entry/permissions.ts';
import { presentEntry, shownEntrySchema } from '../../model/config-entry/present.ts';
import { refusal } from '../../model/errors.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import { secretOf } from '../../server/config-entries/rows.ts';
import { findEntry } from '../../server/config-entries/view.ts';
import { applyEntry, deleteEntry } from '../../server/config-entries/write.ts';
import type { Server } from '../../server/server.ts';
import { configEntries } from '../../state/tables.ts';
import type { BaseInput, Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';

/** Source: docs/contract/configuration.md#endpoints. */
export function configEntryRoutes(server: Server): Route[] {
  const { context } = server;
  const shown = (
    entry: ConfigEntry,
    { unwatched, allows }: Pick<BaseInput, 'unwatched' | 'allows'>,
  ): ShownConfigEntry => {
    const { secret, isDerived } = kindOf(entry.Kind);
    const presented = presentEntry(entry) as ShownConfigEntry;
    if (secret === undefined || isDerived) return presented;
    const key = keyOfEntry(entry);
    const clear = allows(writesKey(key)) ? secretOf(context.box, unwatched, key) : hiddenSecret;
    return { ...presented, [secret]: clear };
  };
  return [
    ...serveWrite(contract.write, async (input) => {
      const { cas: guard, dry_run: isDry } = input.query;
      const { namespace, partition, body } = input;
      const place = { namespace, partition };
      const reply = await applyEntry(context, place, body, { guard, isDry });
      return { ...reply, made: madeOf(completeEntry(body, place)) };
    }),
    ...serveRead(contract.read, (input) => {
      const key = keyOf(input);
      const entry = findEntry(input.snapshot, key);
      if (entry !== undefined) return shown(entry, input);
      throw refusal('config-entry-not-found', key);
    }),
    ...serveWrite(contract.delete, (input) => {
      const { cas: guard, dry_run: isDry } = input.query;
      return deleteEntry(context, keyOf(input), { guard, isDry });
    }),
    ...serveList(contract.listKind, {
      filterSchema: (input) => shownEntrySchema(kindIn(input).kind),
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
    ...serveList(contract.list, {
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

const rowKey = ({ Partition, Namespace, Kind, Name }: ConfigEntry): readonly string[] => [
  Partition,
  Namespace,
  Kind,
  Name,
];

/** Filters must not reveal secrets. */
function withHiddenSecret(entry: ConfigEntry): unknown {
  const { secret } = kindOf(entry.Kind);
  const shown = presentEntry(entry);
  return secret === undefined ? shown : { ...shown, [secret]: hiddenSecret };
}

const madeOf = ({ Kind, Name }: { readonly Kind: ConfigKindName; readonly Name: string }) => ({
  kind: Kind,
  name: Name,
});
