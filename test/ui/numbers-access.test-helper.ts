/** The numbers and the orders of the lists of access control. */
import { generateKeyPairSync } from 'node:crypto';
import type { UiTests } from '../support/ui-tests.ts';
import type { Row, Truth, View } from './numbers.test-helper.ts';

/** More policies than a row has room for. */
const policyNames = ['read-c', 'read-a', 'read-f', 'read-b', 'read-e', 'read-d'];

/** Records whose names are in another order than their ids, and in two namespaces. */
export async function makeAccess(ui: UiTests): Promise<void> {
  const Rules = 'namespace "team" { policy = "read" }';
  for (const Name of policyNames) await ui.made('acl/policy', { Name, Rules });
  const named = policyNames.map((Name) => ({ Name }));
  for (const [Name, count] of Object.entries({ zebra: 6, ant: 4, lion: 1, bee: 5 })) {
    await ui.made('acl/role', { Name, Policies: named.slice(0, count) });
  }
  await ui.made('acl/role?namespace=team', { Name: 'cat', Policies: [] });
  await ui.made('acl/token', { Description: 'of a role', Roles: [{ Name: 'zebra' }] });
  await ui.made('acl/token', {
    Description: 'of two roles',
    Roles: [{ Name: 'zebra' }, { Name: 'ant' }],
  });
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const Config = { JWTValidationPubKeys: [key], ClaimMappings: { project: 'team' } };
  const lives = { machines: '1h30m', builds: '90s', archive: '24h', forever: '0s' };
  for (const [Name, MaxTokenTTL] of Object.entries(lives)) {
    await ui.made('acl/auth-method', { Name, Type: 'jwt', MaxTokenTTL, Config });
    await ui.made('acl/binding-rule', { AuthMethod: Name, BindType: 'role', BindName: 'zebra' });
  }
  const narrow = { AuthMethod: 'builds', Selector: 'value.team == web' };
  await ui.made('acl/binding-rule', { ...narrow, BindType: 'role', BindName: 'ant' });
}

/** By the code of their characters, as the server orders texts. */
const byText =
  (of: (row: Row) => string) =>
  (left: Row, right: Row): number =>
    of(left) < of(right) ? -1 : of(left) > of(right) ? 1 : 0;
const byName = byText(({ Name }) => Name);

const rowsOf = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`;

/** "1 h 30 min" of "1h30m0s", and "never" of nothing. */
function lifeIn(written: string): string {
  const seconds = [...written.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit]) =>
      sum + Number(count) * { h: 3600, m: 60, s: 1 }[unit as 'h' | 'm' | 's'],
    0,
  );
  const parts = {
    d: Math.floor(seconds / 86_400),
    h: Math.floor((seconds % 86_400) / 3600),
    min: Math.floor((seconds % 3600) / 60),
    s: seconds % 60,
  };
  const said = Object.entries(parts).filter(([, count]) => count > 0);
  return said.length === 0 ? 'never' : said.map(([unit, count]) => `${count} ${unit}`).join(' ');
}

const policiesIn = ({ Policies }: Row): string => {
  const names: string[] = (Policies ?? []).map(({ Name }: Row) => Name);
  if (names.length === 0) return '–';
  const rest = names.length - 4;
  return `${names.slice(0, 4).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/** The record of the name, for the address of its page. */
const idOf = async (of: Truth, list: string, name: string): Promise<string> =>
  (await of.list(list)).find(({ Name }) => Name === name)!.ID;

interface ListView {
  readonly path: string;
  readonly label: string;
  readonly titles: readonly string[];
  /** Of the raw list, in its order on the page. */
  readonly rows: (of: Truth) => Promise<readonly string[]>;
}
const listView = ({ path, label, titles, rows }: ListView): View => ({
  name: `the list of ${label.toLowerCase()}, with its order`,
  path,
  shown: async (on) => ({
    foot: (await on.foot()).split(',')[0],
    rows: await on.column(label, ...titles),
  }),
  told: async (of) => {
    const told = await rows(of);
    return { foot: rowsOf(told.length), rows: told };
  },
});

const holdersView = (
  noun: 'policies' | 'roles',
  name: string,
  holders: 'Tokens' | 'Roles',
): View => ({
  name: `how many ${holders.toLowerCase()} have one of the ${noun}`,
  path: async (truth) => `access/${noun}/${await idOf(truth, `acl/${noun}`, name)}`,
  shown: async (on) => {
    const section = on.page.locator(`section:has-text("${holders} that have it")`);
    return {
      count: await on.firstOf(section.locator('.muted')),
      names: await on.textsOf(section.locator('li a')),
    };
  },
  told: async (of) => {
    const all = await of.list(`acl/${holders.toLowerCase()}?namespace=*`);
    const links = noun === 'policies' ? 'Policies' : 'Roles';
    const has = (one: Row) => one[links]?.some(({ Name }: Row) => Name === name);
    const names = all.filter(has).map((row) => row.Name ?? (row.Description || row.AccessorID));
    return { count: String(names.length), names: names.toSorted() };
  },
});

export const accessViews: readonly View[] = [
  listView({
    path: 'access/policies',
    label: 'Policies',
    titles: ['Policy', 'Namespace'],
    rows: async (of) =>
      (await of.list('acl/policies?namespace=*'))
        .toSorted(byName)
        .map(
          ({ Name, Namespace }) =>
            `${Name}${/^builtin|^global-management$/.test(Name) ? ' builtin' : ''}: ${Namespace}`,
        ),
  }),
  listView({
    path: 'access/roles',
    label: 'Roles',
    titles: ['Role', 'Policies', 'Namespace'],
    rows: async (of) =>
      (await of.list('acl/roles?namespace=*'))
        .toSorted(byName)
        .map((role) => `${role.Name}: ${policiesIn(role)}: ${role.Namespace}`),
  }),
  listView({
    path: 'access/methods',
    label: 'Auth methods',
    titles: ['Auth method', 'Tokens expire after'],
    rows: async (of) =>
      (await of.list('acl/auth-methods?namespace=*'))
        .toSorted(byName)
        .map(({ Name, MaxTokenTTL }) => `${Name}: ${lifeIn(MaxTokenTTL)}`),
  }),
  listView({
    path: 'access/rules',
    label: 'Binding rules',
    titles: ['Auth method', 'Whom it matches', 'Grants'],
    rows: async (of) =>
      (await of.list('acl/binding-rules?namespace=*'))
        .toSorted(byText(({ AuthMethod, ID }) => `${AuthMethod} ${ID}`))
        .map(
          ({ AuthMethod, Selector, BindType, BindName }) =>
            `${AuthMethod}: ${Selector || 'every login'}: ${BindType} ${BindName}`,
        ),
  }),
  listView({
    path: 'access/tokens',
    label: 'Tokens',
    titles: ['Token'],
    rows: async (of) =>
      (await of.list('acl/tokens?namespace=*'))
        .toSorted(byText(({ CreateTime, AccessorID }) => `${CreateTime} ${AccessorID}`))
        .toReversed()
        .map(({ Description, AccessorID }) => `${Description} ${AccessorID.slice(0, 8)}`.trim()),
  }),
  {
    name: 'the templated policies',
    path: 'access/templates',
    shown: (on) => on.textsOf(on.page.getByRole('list', { name: 'Templates' }).locator('.name')),
    told: async (of) => Object.keys(await of.read('acl/templated-policies')).toSorted(),
  },
  holdersView('policies', 'narrow', 'Tokens'),
  holdersView('policies', 'read-c', 'Roles'),
  holdersView('roles', 'zebra', 'Tokens'),
];
