import type { Policy } from '../../acl/grants.ts';
import { type PolicyChange, policyChanges } from '../../acl/policy-diff.ts';
import { policyOf } from '../../acl/policy-test.ts';
import type { AclPolicy } from '../../sdk/client.ts';
import { isMissing } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError } from '../errors.ts';
import type { Screen } from '../render/screen.ts';
import { oneLine } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { understood } from './policy-files.ts';
import { rulesOf, type TokenChange, tokenChanges } from './policy-reach.ts';

export const aclPolicyDiff: ClientCommand = {
  words: ['acl', 'policy', 'diff'],
  summary: 'Show the permissions that a change of rules would grant and revoke, by token.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'OLD',
        kind: 'word',
        isRequired: true,
        description: 'A file of rules, or the name or id of a stored policy.',
      },
      { name: 'NEW', kind: 'file', isRequired: true, description: 'A file of rules.' },
    ],
    details: `Lists the permissions that NEW would add and remove. For a stored policy it also lists the
affected tokens, considering their other policies. Changes nothing.`,
  },
  async run(context, [old, file]) {
    const after = await policyIn(context, file!);
    const stored = await storedPolicy(context, old!);
    const before =
      stored === undefined ? await fileOf(context, old!.replace(/^@/, '')) : rulesOf(stored);
    const changes = policyChanges(
      { policies: [before] },
      { policies: [{ ...before, rules: after.rules }] },
    );
    const tokens = stored && (await tokenChanges(context.client, stored, after.rules));
    return context.show({ Changes: changes, Tokens: tokens ?? [] }, () =>
      print(context.screen, changes, tokens),
    );
  },
};

async function policyIn(context: Context, path: string): Promise<Policy> {
  const text = await readText(context, path, 'rules');
  return understood(path, () => policyOf(path, text));
}

async function fileOf(context: Context, path: string): Promise<Policy> {
  try {
    return await policyIn(context, path);
  } catch (error) {
    if (!(error instanceof CliError) || error.faults.length > 0) throw error;
    throw new CliError(`There is no policy and no file "${path}".`, {
      hint: '"roster acl policy list" lists the policies.',
    });
  }
}

/** The policy by its id or name; `undefined` if there is none, so that the word is a file. */
async function storedPolicy({ client }: Context, given: string): Promise<AclPolicy | undefined> {
  if (given.endsWith('.hcl') || given.endsWith('.json') || /^[.@]/.test(given)) return undefined;
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given);
  try {
    const { policies } = client.acl;
    return (await (isId ? policies.read(given) : policies.readNamed(given))).value;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function print(
  screen: Screen,
  changes: readonly PolicyChange[],
  tokens: readonly TokenChange[] | undefined,
): Promise<void> {
  if (changes.length === 0) await screen.line('Nothing changes.');
  await printChanges(screen, changes, '');
  if (tokens === undefined) return;
  await screen.title(tokens.length === 0 ? 'No token is concerned' : 'Tokens');
  for (const { AccessorID, Namespace, Description, Changes } of tokens) {
    const place = Namespace === 'default' ? '' : `  (namespace ${oneLine(Namespace)})`;
    await screen.line(`${AccessorID}  ${oneLine(Description)}${place}`);
    await printChanges(screen, Changes, '  ');
  }
}

async function printChanges(screen: Screen, changes: readonly PolicyChange[], indent: string) {
  const { green, red } = screen.colors;
  for (const { change, permission } of changes) {
    const sign = change === 'gained' ? green('+') : red('-');
    await screen.line(`${indent}${sign} ${oneLine(permission)}`);
  }
}
