import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { limits } from '../../model/limits.ts';
import { MemoryDisk } from '../../state/engine/memory.ts';
import { memoryState } from '../../state/state.test-helper.ts';
import {
  aclTokens,
  allTables,
  authMethods,
  keyringKeys,
  variableItems,
} from '../../state/tables.ts';
import type { State, Transaction } from '../../state/types.ts';
import { seedScopes } from '../acl/seed.ts';
import { insertToken } from '../acl/tokens.ts';
import { Keyring, WrongRootKey } from './keyring.ts';
import { rotateKeyring } from './rotate.ts';

const rootKey = new Uint8Array(32).fill(7);
const scope = { partition: 'default', namespace: 'default' };

let world: SimulatedWorld;
let disk: MemoryDisk;
let state: State;
let keyring: Keyring;

const reopen = async () => {
  state = await memoryState(allTables, world, disk);
  keyring = await Keyring.open(state, rootKey, world);
};

beforeEach(async () => {
  world = new SimulatedWorld(1);
  disk = new MemoryDisk();
  await reopen();
  await state.write(seedScopes);
});

const addToken = (transaction: Transaction, secret: string) =>
  insertToken(transaction, { world, box: keyring }, scope, {
    Description: '',
    Policies: [],
    Roles: [],
    TemplatedPolicies: [],
    ServiceIdentities: [],
    NodeIdentities: [],
    Local: false,
    AuthMethod: '',
    AuthMethodNamespace: '',
    CreateTime: 0,
    ExpirationTime: 0,
    accessor: '',
    secret,
  });

const secrets = Array.from(
  { length: 1200 },
  (_, index) => `aaaaaaaa-aaaa-4aaa-8aaa-${String(index).padStart(12, '0')}`,
);

const opened = () =>
  [...state.read().table(aclTokens).scan()].map((row) => keyring.open(row.SecretSealed));
const keys = () =>
  [...state.read().table(keyringKeys).scan()].filter((key) => key.Purpose === 'sealing');

test('a sealed text opens again, also after a restart, and does not show its content', async () => {
  const sealed = keyring.seal('a secret');
  expect(sealed).not.toContain('a secret');
  expect(keyring.seal('a secret')).not.toBe(sealed);
  const fingerprint = keyring.fingerprint('a secret');
  await state.close();
  await reopen();
  expect(keyring.open(sealed)).toBe('a secret');
  expect(keyring.fingerprint('a secret')).toBe(fingerprint);
});

test.each([
  ['changed', (sealed: string) => `${sealed.slice(0, -4)}AAA=`],
  ['cut off', (sealed: string) => sealed.slice(0, 50)],
  ['under a key nobody has', (sealed: string) => `x${sealed}`],
  ['never sealed', () => 'plain'],
])('a text that is %s does not open', (_, change) => {
  expect(() => keyring.open(change(keyring.seal('a secret')))).toThrow();
});

test('another root key opens nothing and changes nothing', async () => {
  const before = JSON.stringify(keys());
  const other = new Uint8Array(32).fill(8);
  await expect(Keyring.open(state, other, world)).rejects.toThrow(WrongRootKey);
  expect(JSON.stringify(keys())).toBe(before);
});

describe('a rotation', () => {
  test('seals everything anew in slices, forgets the old key, and keeps lookups', async () => {
    await state.write((transaction) => {
      for (const secret of secrets) addToken(transaction, secret);
      transaction.table(authMethods).put({
        Name: 'm',
        Type: 'oidc',
        Description: '',
        DisplayName: '',
        MaxTokenTTL: 0,
        TokenLocality: '',
        Config: {},
        NamespaceRules: [],
        Namespace: 'default',
        Partition: 'default',
        SealedConfig: { OIDCClientSecret: keyring.seal('hush') },
      });
    });
    const [old] = keys();
    const transactions: number[] = [];
    state.onCommit((changes) => transactions.push(changes.length));
    await rotateKeyring(state, keyring);
    expect(Math.max(...transactions)).toBeLessThanOrEqual(limits.keyring.rowsPerTransactionMax);
    expect(keys()).toHaveLength(1);
    expect(keys()[0]).toMatchObject({ State: 'active' });
    expect(keys()[0]!.KeyID).not.toBe(old!.KeyID);
    expect(new Set(opened())).toEqual(new Set(secrets));
    const found = state.read().table(aclTokens).by('secret');
    expect([...found.scan({ prefix: [keyring.fingerprint(secrets[7]!)] })]).toHaveLength(1);
    const method = state.read().table(authMethods).get('default', 'default', 'm')!;
    expect(keyring.open(method.SealedConfig!.OIDCClientSecret!)).toBe('hush');
    await state.close();
    await reopen();
    expect(new Set(opened())).toEqual(new Set(secrets));
  });

  test('rows with long texts are sealed a few at a time, so that no transaction is long', async () => {
    const Namespace = 'default';
    const paths = Array.from({ length: 20 }, (_, at) => `p${String(at).padStart(2, '0')}`);
    await state.write((transaction) => {
      for (const Path of paths) {
        const Sealed = keyring.seal(Path.padEnd(64 * 1024, 'x'));
        transaction.table(variableItems).put({ Namespace, Path, Sealed });
      }
    });
    const transactions: number[] = [];
    state.onCommit((changes) => {
      transactions.push(changes.filter(({ table }) => table === 'variable-items').length);
    });
    await rotateKeyring(state, keyring);
    expect(Math.max(...transactions)).toBe(3);
    const rows = [...state.read().table(variableItems).scan()];
    expect(rows.map(({ Sealed }) => keyring.open(Sealed).replaceAll('x', ''))).toEqual(paths);
    expect(rows.some(({ Sealed }) => keyring.isStale(Sealed))).toBe(false);
  });

  test('a rotation that was interrupted is completed by the next one', async () => {
    await state.write((transaction) => addToken(transaction, secrets[0]!));
    await state.write((transaction) => keyring.renew(transaction));
    await state.close();
    await reopen();
    expect(
      keys()
        .map((key) => key.State)
        .sort(),
    ).toEqual(['active', 'retired']);
    expect(opened()).toEqual([secrets[0]]);
    await rotateKeyring(state, keyring);
    expect(keys()).toHaveLength(1);
    expect(opened()).toEqual([secrets[0]]);
  });

  test('tokens that are made during a rotation open afterwards', async () => {
    await state.write((transaction) => addToken(transaction, secrets[0]!));
    const rotated = rotateKeyring(state, keyring);
    const made = secrets
      .slice(1, 20)
      .map((secret) => state.write((transaction) => addToken(transaction, secret)));
    await Promise.all([rotated, ...made]);
    expect(new Set(opened())).toEqual(new Set(secrets.slice(0, 20)));
    expect(keys()).toHaveLength(1);
  });
});
