import type { AclToken } from '../../model/acl-token/acl-token.ts';
import type { AuthMethod } from '../../model/auth-method/auth-method.ts';
import type { KeptAnswer } from '../../model/kept-answer/kept-answer.ts';
import type { KeptPlan } from '../../model/kept-plan/kept-plan.ts';
import type { KeyringKey } from '../../model/keyring/keyring-key.ts';
import { limits } from '../../model/limits.ts';
import type { OidcSession } from '../../model/login/login.ts';
import type { PeeringSecrets } from '../../model/peering/secrets.ts';
import type { SealedItems } from '../../model/variable/variable.ts';
import {
  aclTokens,
  allocations,
  authMethods,
  type ConfigSecret,
  configSecrets,
  keptAnswers,
  keptPlans,
  keyringKeys,
  oidcSessions,
  peeringSecrets,
  variableItems,
} from '../../state/tables.ts';
import type {
  Key,
  Snapshot,
  Stamps,
  State,
  TableDefinition,
  Transaction,
  Unstamped,
  Written,
} from '../../state/types.ts';
import { type Keyring, keyOf } from './keyring.ts';

/** A table with secrets in its rows: reads the secrets of a row, and replaces them. */
interface SealedTable<R extends Stamps> {
  readonly definition: TableDefinition<R>;
  readonly sealedOf: (row: R) => readonly string[];
  readonly withSealed: (row: R, map: (sealed: string) => string) => Unstamped<R>;
}

const tokens: SealedTable<AclToken> = {
  definition: aclTokens,
  sealedOf: ({ SecretSealed }) => (SecretSealed === '' ? [] : [SecretSealed]),
  withSealed: (row, map) => ({ ...row, SecretSealed: map(row.SecretSealed) }),
};

const methods: SealedTable<AuthMethod> = {
  definition: authMethods,
  sealedOf: ({ SealedConfig }) => Object.values(SealedConfig ?? {}),
  withSealed: (row, map) => ({
    ...row,
    SealedConfig: Object.fromEntries(
      Object.entries(row.SealedConfig ?? {}).map(([name, sealed]) => [name, map(sealed)]),
    ),
  }),
};

const items: SealedTable<SealedItems> = {
  definition: variableItems,
  sealedOf: ({ Sealed }) => [Sealed],
  withSealed: (row, map) => ({ ...row, Sealed: map(row.Sealed) }),
};

const entrySecrets: SealedTable<ConfigSecret> = {
  definition: configSecrets,
  sealedOf: ({ Sealed }) => [Sealed],
  withSealed: (row, map) => ({ ...row, Sealed: map(row.Sealed) }),
};

const ofPeerings: SealedTable<PeeringSecrets> = {
  definition: peeringSecrets,
  sealedOf: ({ Active, Pending }) => [Active, Pending].filter((sealed) => sealed !== ''),
  withSealed: (row, map) => ({
    ...row,
    Active: row.Active && map(row.Active),
    Pending: row.Pending && map(row.Pending),
  }),
};

const answers: SealedTable<KeptAnswer> = {
  definition: keptAnswers,
  sealedOf: ({ Sealed }) => (Sealed === '' ? [] : [Sealed]),
  withSealed: (row, map) => ({ ...row, Sealed: map(row.Sealed) }),
};

const plans: SealedTable<KeptPlan> = {
  definition: keptPlans,
  sealedOf: ({ Sealed }) => (Sealed === '' ? [] : [Sealed]),
  withSealed: (row, map) => ({ ...row, Sealed: map(row.Sealed) }),
};

const sessions: SealedTable<OidcSession> = {
  definition: oidcSessions,
  sealedOf: ({ Sealed }) => [Sealed],
  withSealed: (row, map) => ({ ...row, Sealed: map(row.Sealed) }),
};

/** Every table with secrets. A table that is missing here loses its secrets in a rotation. */
const sealedTables = [
  tokens,
  methods,
  items,
  entrySecrets,
  ofPeerings,
  answers,
  plans,
  sessions,
] as unknown as readonly SealedTable<Stamps>[];

/**
 * Makes new keys active, seals all secrets anew in slices, and removes keys under which nothing is
 * sealed any more. If it is interrupted, the next rotation completes it: a retired key stays as
 * long as it is needed.
 */
export async function rotateKeyring(state: State, keyring: Keyring): Promise<Written<KeyringKey>> {
  const { value } = await state.write((transaction) => keyring.renew(transaction));
  const signing = await state.write((transaction) => keyring.renewSigning(transaction));
  keyring.adoptSigning(signing.value);
  for (const table of sealedTables) await resealTable(state, keyring, table);
  const { index } = await state.write(forgetUnused);
  return { index, value };
}

async function resealTable(
  state: State,
  keyring: Keyring,
  table: SealedTable<Stamps>,
): Promise<void> {
  let from: Key | undefined;
  do {
    const start = from;
    const { value } = await state.write((transaction) =>
      resealSlice(transaction, keyring, table, start),
    );
    from = value;
  } while (from !== undefined);
}

/** Returns the key of the first row of the next slice. */
function resealSlice(
  transaction: Transaction,
  keyring: Keyring,
  { definition, sealedOf, withSealed }: SealedTable<Stamps>,
  from: Key | undefined,
): Key | undefined {
  const table = transaction.table(definition);
  const stale: Stamps[] = [];
  let next: Key | undefined;
  let seen = 0;
  let bytes = 0;
  const { rowsPerTransactionMax, bytesPerTransactionMax } = limits.keyring;
  for (const row of table.scan(from === undefined ? {} : { from })) {
    if (seen === rowsPerTransactionMax || bytes >= bytesPerTransactionMax) {
      next = definition.key(row);
      break;
    }
    seen++;
    const sealed = sealedOf(row);
    if (!sealed.some((text) => keyring.isStale(text))) continue;
    bytes += sealed.reduce((sum, text) => sum + text.length, 0);
    stale.push(row);
  }
  for (const row of stale) table.put(withSealed(row, (text) => keyring.seal(keyring.open(text))));
  return next;
}

function forgetUnused(transaction: Transaction): void {
  const used = usedKeys(transaction);
  const table = transaction.table(keyringKeys);
  for (const key of [...table.scan()]) {
    if (key.State !== 'retired') continue;
    const isUsed = key.Purpose === 'signing' ? hasSigned(transaction, key) : used.has(key.KeyID);
    if (!isUsed) table.delete(key.KeyID);
  }
}

/**
 * Whether tokens that the key signed may still be in use: tokens of allocations that were there
 * before the key retired. A token without an expiration is valid as long as its allocation.
 */
function hasSigned(snapshot: Snapshot, { ModifyIndex }: KeyringKey): boolean {
  for (const { CreateIndex } of snapshot.table(allocations).by('occupant').scan()) {
    if (CreateIndex < ModifyIndex) return true;
  }
  return false;
}

/** Rows with secrets that are sealed under a key that is not there. */
export function* rowsWithoutKey(
  snapshot: Snapshot,
  keys: ReadonlySet<string>,
): Generator<readonly [definition: TableDefinition, row: Stamps]> {
  for (const { definition, sealedOf } of sealedTables) {
    for (const row of snapshot.table(definition).scan()) {
      if (sealedOf(row).some((sealed) => !keys.has(keyOf(sealed)))) yield [definition, row];
    }
  }
}

function usedKeys(snapshot: Snapshot): ReadonlySet<string> {
  const used = new Set<string>();
  for (const { definition, sealedOf } of sealedTables) {
    for (const row of snapshot.table(definition).scan()) {
      for (const sealed of sealedOf(row)) used.add(keyOf(sealed));
    }
  }
  return used;
}
