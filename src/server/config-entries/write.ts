import { formatInstant } from '../../base/instant.ts';
import {
  type ConfigEntry,
  type EntryKey,
  keyOfEntry,
} from '../../model/config-entry/config-entry.ts';
import { consequences } from '../../model/config-entry/consequences.ts';
import { crossChecks } from '../../model/config-entry/cross-checks.ts';
import { arrangedEntry, completeEntry, type GivenEntry } from '../../model/config-entry/entry.ts';
import { entryFaults } from '../../model/config-entry/entry-faults.ts';
import { hiddenSecret } from '../../model/config-entry/hidden-secret.ts';
import { kindOf } from '../../model/config-entry/kinds.ts';
import { invalid, RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Scope } from '../../model/namespace/namespace.ts';
import { configEntries } from '../../state/tables.ts';
import type { Transaction, Written } from '../../state/types.ts';
import { requireScope } from '../acl/scope.ts';
import { requireRoom } from '../checks.ts';
import type { ActContext } from '../context.ts';
import { putDerived, putGiven, removeRows, secretOf } from './rows.ts';
import { type EntryChange, entryViewOf, findEntry } from './view.ts';

type Context = Pick<ActContext, 'state' | 'world' | 'box'>;

/** When an entry is written, and whether it is only tried. */
export interface WriteOptions {
  /**
   * The `ModifyIndex` that the caller has seen. Of an apply, 0 says that there is no entry yet; of
   * a delete, 0 never matches.
   */
  readonly guard: number | undefined;
  /** A dry run: everything is checked and nothing stored. */
  readonly isDry: boolean;
}

/**
 * Makes or replaces an entry; `false`: the guard did not match. An unchanged entry is left alone.
 * Source: docs/contract/configuration.md#check-and-set.
 * @throws RosterError `invalid-body`, `namespace-not-found`, `partition-not-found`,
 * `limit-reached`, `config-conflict`
 */
export async function applyEntry(
  context: Context,
  scope: Scope,
  given: GivenEntry,
  options: WriteOptions,
): Promise<Written<boolean>> {
  const { box, state } = context;
  const complete = withKeptSecret(context, completeEntry(given, scope));
  const faults = entryFaults(given, complete);
  if (faults.length > 0) throw invalid('invalid-body', faults);
  const entry = arrangedEntry(complete);
  const key = keyOfEntry(entry);
  return written(state, options, (transaction) => {
    requireScope(transaction, key);
    const stored = findEntry(transaction, key);
    if (options.guard !== undefined && options.guard !== (stored?.ModifyIndex ?? 0)) return false;
    if (stored === undefined) {
      const { size } = transaction.table(configEntries);
      requireRoom('configuration entry', size, limits.config.countMax);
    }
    if (!putGiven(transaction, box, entry)) return true;
    const view = entryViewOf(transaction);
    const wrong = kindOf(entry.Kind).changeFaults?.(stored, entry, view) ?? [];
    const failure = `The entry ${entry.Kind} "${entry.Name}" is not written`;
    settle(context, transaction, { key, before: stored }, { failure, wrong });
    return true;
  });
}

/** Deletes an entry; `false`: the guard did not match. @throws RosterError `config-conflict` */
export async function deleteEntry(
  context: Context,
  key: EntryKey,
  options: WriteOptions,
): Promise<Written<boolean>> {
  return written(context.state, options, (transaction) => {
    if (options.guard !== undefined) {
      const actual = findEntry(transaction, key)?.ModifyIndex;
      if (options.guard === 0 || options.guard !== actual) return false;
    }
    const before = findEntry(transaction, key);
    if (removeRows(transaction, key)) {
      const failure = `The entry ${key.kind} "${key.name}" is not deleted`;
      settle(context, transaction, { key, before }, { failure, wrong: [] });
    }
    return true;
  });
}

/**
 * Checks all entries together after a change, and writes the entries that the server derives from
 * them.
 */
function settle(
  { world }: Pick<Context, 'world'>,
  transaction: Transaction,
  change: EntryChange,
  { failure, wrong }: { readonly failure: string; readonly wrong: readonly string[] },
): void {
  const view = entryViewOf(transaction, change);
  const changed = [change.key];
  // The checks do not look at derived entries, so a refused change need not derive any.
  const faults = [...wrong, ...crossChecks.flatMap((check) => check(view, changed))];
  if (faults.length > 0) throw conflict(failure, [...new Set(faults)]);
  const now = formatInstant(world.clock.nowMs());
  for (const follow of consequences) {
    const { puts, removals } = follow(view, changed, now);
    for (const entry of puts) {
      if (putDerived(transaction, entry)) changed.push(keyOfEntry(entry));
    }
    for (const removed of removals) {
      if (removeRows(transaction, removed)) changed.push(removed);
    }
  }
}

function conflict(what: string, sentences: readonly string[]): RosterError {
  const { describedMax } = limits.config;
  const more = sentences.length - describedMax;
  const told = [...sentences.slice(0, describedMax), ...(more > 0 ? [`and ${more} more`] : [])];
  const { code, detail } = refusal('config-conflict', { what, faults: told.join('; ') });
  const listed = sentences.slice(0, limits.fault.listedMax);
  return new RosterError(
    code,
    detail,
    listed.map((message) => ({ pointer: '', message })),
  );
}

/** An entry that was read without its secret can be sent back as it is. */
function withKeptSecret({ box, state }: Context, entry: ConfigEntry): ConfigEntry {
  const { secret } = kindOf(entry.Kind);
  if (secret === undefined) return entry;
  const fields = entry as unknown as Readonly<Record<string, unknown>>;
  if (fields[secret] !== hiddenSecret) return entry;
  const kept = secretOf(box, state.head(), keyOfEntry(entry));
  return kept === '' ? entry : { ...entry, [secret]: kept };
}

/** The result of a dry run. It is thrown, since a transaction that throws leaves no trace. */
class Rehearsed extends Error {
  readonly value: boolean;
  constructor(value: boolean) {
    super('nothing is kept of a rehearsal');
    this.value = value;
  }
}

async function written(
  state: Context['state'],
  { isDry }: WriteOptions,
  run: (transaction: Transaction) => boolean,
): Promise<Written<boolean>> {
  if (!isDry) return state.write(run);
  try {
    return await state.write((transaction) => {
      throw new Rehearsed(run(transaction));
    });
  } catch (thrown) {
    if (!(thrown instanceof Rehearsed)) throw thrown;
    return { index: state.read().index, value: thrown.value };
  }
}
