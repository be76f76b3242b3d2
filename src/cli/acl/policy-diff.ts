import type { Policy } from '../../acl/grants.ts';
import { type PolicyChange, policyChanges } from '../../acl/policy-diff.ts';
import { policyOf } from '../../acl/policy-test.ts';
import { parseRules } from '../../language/rules/parse.ts';
import type { AclPolicy } from '../../sdk/client.ts';
import { isMissing } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Screen } from '../render/screen.ts';
import { oneLine, plural } from '../render/text.ts';
import { textOf, understood } from './policy-files.ts';

/** Tokens that are looked at one by one; more are only counted. */
const tokensMax = 500;

interface TokenChange {
  readonly AccessorID: string;
  readonly Description: string;
  readonly Changes: readonly PolicyChange[];
}

export const aclPolicyDiff: ClientCommand = {
  definition: {
    arguments: [
      {
        name: 'OLD',
        kind: 'word',
        isRequired: true,
        description: 'A file of rules, or the name or id of a stored policy.',
      },
      { name: 'NEW', kind: 'file', isRequired: true, description: 'A file of rules.' },
    ],
    details: `Lists what NEW would give and take. Of a stored policy it also tells which tokens that
concerns, with all that their other policies say. Nothing is changed.`,
  },
  async run(context, [old, file]) {
    const after = await textOf(context.environment, file!);
    const given = understood(file!, () => policyOf(file!, after));
    const stored = await storedPolicy(context, old!);
    const before =
      stored === undefined
        ? await fileOf(context, old!)
        : { ...given, rules: parseRules(stored.Rules).rules };
    const changes = policyChanges([before], [{ ...given, ID: before.ID, Name: before.Name }]);
    const concerned = stored === undefined ? [] : await tokensOf(context, stored);
    const tokens: TokenChange[] = [];
    for (const accessor of concerned.slice(0, tokensMax)) {
      const change = await changeOf(context, accessor, stored!, given);
      if (change.Changes.length > 0) tokens.push(change);
    }
    const skipped = Math.max(0, concerned.length - tokensMax);
    if (context.isJson) {
      await context.json({ Changes: changes, Tokens: tokens, TokensNotLookedAt: skipped });
    } else {
      await print(context.screen, changes, stored && tokens, skipped);
    }
    return exitCodes.ok;
  },
};

async function fileOf(context: Context, path: string): Promise<Policy> {
  try {
    const text = await textOf(context.environment, path);
    return understood(path, () => policyOf(path, text));
  } catch (error) {
    if (!(error instanceof CliError) || error.faults.length > 0) throw error;
    throw new CliError(`There is no policy and no file "${path}".`, {
      hint: '"roster acl policy list" lists the policies.',
    });
  }
}

/** By id or name; `undefined` when there is none, so that it is a file. */
async function storedPolicy({ client }: Context, given: string): Promise<AclPolicy | undefined> {
  if (given.endsWith('.hcl') || given.endsWith('.json') || given.startsWith('.')) return undefined;
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given);
  try {
    const { policies } = client.acl;
    return (await (isId ? policies.read(given) : policies.readNamed(given))).value;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The accessors of all tokens that have the policy, by themselves or by a role. */
async function tokensOf({ client }: Context, { ID: policy }: AclPolicy): Promise<string[]> {
  const { tokens, roles } = client.acl;
  const found = new Set((await tokens.list({ policy })).value.map((token) => token.AccessorID));
  for (const role of (await roles.list({ policy })).value) {
    const { value } = await tokens.list({ role: role.ID });
    for (const token of value) found.add(token.AccessorID);
  }
  return [...found].sort();
}

async function changeOf(
  { client }: Context,
  accessor: string,
  stored: AclPolicy,
  given: Policy,
): Promise<TokenChange> {
  const { value } = await client.acl.tokens.read(accessor, { expanded: true });
  const before = (value.ExpandedPolicies ?? []).map(
    ({ ID, Name, Namespace, Partition, Rules }): Policy => ({
      ...{ ID, Name, rules: parseRules(Rules).rules },
      ...{ Namespace: Namespace || 'default', Partition: Partition || 'default' },
    }),
  );
  const after = before.map((policy) =>
    policy.ID === stored.ID ? { ...policy, rules: given.rules } : policy,
  );
  const { AccessorID, Description } = value;
  return { AccessorID, Description, Changes: policyChanges(before, after) };
}

async function print(
  screen: Screen,
  changes: readonly PolicyChange[],
  tokens: readonly TokenChange[] | undefined,
  skipped: number,
): Promise<void> {
  if (changes.length === 0) await screen.line('Nothing changes.');
  await printChanges(screen, changes, '');
  if (tokens === undefined) return;
  await screen.title(tokens.length === 0 ? 'No token is concerned' : 'Tokens');
  for (const { AccessorID, Description, Changes } of tokens) {
    await screen.line(`${AccessorID}  ${oneLine(Description)}`);
    await printChanges(screen, Changes, '  ');
  }
  if (skipped > 0) await screen.line(`${plural(skipped, 'more token')} not looked at.`);
}

async function printChanges(screen: Screen, changes: readonly PolicyChange[], indent: string) {
  const { green, red } = screen.colors;
  for (const { change, permission } of changes) {
    const sign = change === 'gained' ? green('+') : red('-');
    await screen.line(`${indent}${sign} ${oneLine(permission)}`);
  }
}
