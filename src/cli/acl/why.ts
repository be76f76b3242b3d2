import type { AclExplanation } from '../../sdk/client.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import type { Screen } from '../render/screen.ts';
import { oneLine } from '../render/text.ts';
import { resolveToken } from './resolve.ts';

export const aclWhy: ClientCommand = {
  words: ['acl', 'why'],
  summary: 'Explain why a token has a permission, or lacks it.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'TOKEN',
        kind: 'word',
        isRequired: true,
        description: 'Accessor of the token, 8 or more characters of it, or "self".',
      },
      {
        name: 'PERMISSION',
        kind: 'word',
        isRequired: true,
        description:
          'A permission, as refusals name it: service:write, namespace:submit-job, management …',
      },
      {
        name: 'NAME',
        kind: 'word',
        isRequired: false,
        description: 'Name of the record; for namespace permissions, the namespace.',
      },
    ],
    details: 'Exit code 0 if the token has the permission, 1 if it lacks it.',
  },
  async run(context, [token, permission, name]) {
    const accessor = token === 'self' ? undefined : await resolveToken(context, token!);
    const answer = await context.client.aclDecisions.explain(permission!, { name, accessor });
    if (context.isJson) await context.json(answer.value);
    else await print(context.screen, answer.value);
    return answer.value.Allowed ? exitCodes.ok : exitCodes.error;
  },
};

async function print(screen: Screen, explanation: AclExplanation): Promise<void> {
  const { Allowed, Permission, Reason, Rules, Missing, AccessorID } = explanation;
  const { green, red } = screen.colors;
  await screen.fields([
    ['Permission', oneLine(Permission)],
    ['Token', AccessorID || '-'],
    ['Answer', Allowed ? green('allowed') : red('denied')],
    ['Because', oneLine(Reason)],
  ]);
  await printRules(screen, Rules);
  if (Missing === '') return;
  await screen.title('This rule would allow it');
  await screen.line(`  ${oneLine(Missing)}`);
}

/** The deciding rules: each with its place, the link from the token, and its text. */
export async function printRules(screen: Screen, rules: AclExplanation['Rules']): Promise<void> {
  for (const { Policy, Line, Column, Via, Text } of rules) {
    await screen.title(`Policy "${oneLine(Policy.Name)}", line ${Line}, column ${Column}`);
    for (const way of Via) await screen.line(`  by ${oneLine(way)}`);
    for (const line of flushLeft(Text)) await screen.line(`  | ${line}`);
  }
}

/** The lines of a rule without the indentation of its block; the first line has none. */
function flushLeft(text: string): string[] {
  const [first, ...others] = text.split('\n').map((line) => {
    const [before] = /^[ \t]*/.exec(line)!;
    return { indent: before.replaceAll('\t', '  '), rest: oneLine(line) };
  });
  const written = others.filter(({ rest }) => rest !== '');
  const margin = Math.min(...written.map(({ indent }) => indent.length));
  const shown = ({ indent, rest }: (typeof others)[number]) =>
    rest === '' ? '' : indent.slice(margin) + rest;
  return [first!.rest, ...others.map(shown)];
}
