import type { PolicyTrial } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { oneLine, plural } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { resolvePolicy, resolveToken } from './resolve.ts';
import { printRules } from './why.ts';

type Tried = Awaited<ReturnType<Context['client']['aclDecisions']['tryPolicy']>>['value'];

export const aclPolicyTry: ClientCommand = {
  words: ['acl', 'policy', 'try'],
  summary: 'Try rules on the server before they are stored: what they would allow, and why.',
  definition: {
    isPaged: true,
    arguments: [
      { name: 'FILE', kind: 'file', isRequired: true, description: 'The file of rules.' },
      {
        name: 'QUESTION',
        kind: 'word',
        isRequired: true,
        isSeveral: true,
        description:
          "A permission, as refusals name it, and the name of the record in the same word: 'service:write web', management …",
      },
    ],
    options: [
      {
        name: 'for',
        value: 'TOKEN',
        completes: 'token',
        description: 'Ask about this token, as if it had the rules besides its own.',
      },
      {
        name: 'replace',
        value: 'POLICY',
        completes: 'policy',
        description: 'Try the rules in place of those of this policy.',
      },
    ],
    details: `Stores nothing. Without --for the rules are tried as the only policy of a token.
Exit code 0 if everything is allowed, 1 if something is denied.

Examples:
  roster acl policy try web.hcl 'service:write web' 'namespace:submit-job default'
  roster acl policy try -replace deploy -for ci deploy.hcl 'namespace:submit-job shop'`,
  },
  async run(context, [file, ...questions], options) {
    const [token, policy] = [options.text('for'), options.text('replace')];
    const trial: PolicyTrial = {
      Rules: await readText(context, file!, 'rules'),
      ...(token !== undefined && { AccessorID: await resolveToken(context, token) }),
      ...(policy !== undefined && { PolicyID: await resolvePolicy(context, policy) }),
      Questions: questions.map(questionOf),
    };
    const { value } = await context.client.aclDecisions.tryPolicy(trial);
    if (context.isJson) await context.json(value);
    else await print(context, value);
    return value.Decisions.every(({ Allowed }) => Allowed) ? exitCodes.ok : exitCodes.error;
  },
};

/** `service:write web`: the permission, and after the first space the name. */
function questionOf(word: string): PolicyTrial['Questions'][number] {
  const at = word.indexOf(' ');
  return at < 0
    ? { Permission: word }
    : { Permission: word.slice(0, at), Name: word.slice(at + 1).trim() };
}

async function print({ screen }: Context, { Decisions }: Tried): Promise<void> {
  const { green, red, bold } = screen.colors;
  for (const { Allowed, Before, Permission, Reason, Rules, Missing } of Decisions) {
    const isNew = Before !== null && Before !== Allowed;
    const change = isNew ? (Allowed ? ' (denied now)' : ' (allowed now)') : '';
    const answer = Allowed ? green('allowed') : red('denied');
    await screen.line(`${answer}  ${oneLine(Permission)}${change}`);
    await screen.line(`    ${oneLine(Reason)}`);
    await printRules(screen, Rules);
    if (Missing !== '') await screen.line(`  Missing: ${oneLine(Missing)}`);
    await screen.line();
  }
  const denied = Decisions.filter(({ Allowed }) => !Allowed).length;
  const total = plural(Decisions.length, 'permission');
  await screen.line(bold(denied === 0 ? `${total} allowed.` : `${denied} of ${total} denied.`));
}
