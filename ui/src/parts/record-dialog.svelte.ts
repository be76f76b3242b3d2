/** Which dialog of a record is open: the form that writes it, or the question before its end. */
import Pencil from '@lucide/svelte/icons/pencil';
import Trash2 from '@lucide/svelte/icons/trash-2';
import type { Act } from '../app/page.svelte.ts';
import type { Decision } from '../app/permissions.svelte.ts';

type Open<Row> =
  | { readonly kind: 'write'; readonly record: Row | undefined }
  | { readonly kind: 'delete'; readonly record: Row };

export interface RecordDialog<Row> {
  readonly open: Open<Row> | undefined;
  /** Without a record: for a new one. */
  write(record?: Row): void;
  remove(record: Row): void;
  close(): void;
}

export function recordDialog<Row>(): RecordDialog<Row> {
  let open = $state.raw<Open<Row> | undefined>();
  return {
    get open() {
      return open;
    },
    write: (record) => {
      open = { kind: 'write', record };
    },
    remove: (record) => {
      open = { kind: 'delete', record };
    },
    close: () => {
      open = undefined;
    },
  };
}

/** Edits and deletes a record. `name` tells the acts of a row from those of others. */
export const changeActs = <Row>(
  dialog: RecordDialog<Row>,
  record: Row,
  { may, name, keeps }: { may: Decision; name: string; keeps?: string | undefined },
): readonly Act[] => [
  { title: `Edit ${name}`.trim(), icon: Pencil, may, run: () => dialog.write(record) },
  {
    title: `Delete ${name}`.trim(),
    icon: Trash2,
    tone: name === '' ? 'danger' : undefined,
    may,
    unless: keeps,
    run: () => dialog.remove(record),
  },
];
