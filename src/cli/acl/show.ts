import type { PresentedAclRole, PresentedAclToken } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { OptionDefinition } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { agoText, oneLine, orDash } from '../render/text.ts';

type Holder = Pick<
  PresentedAclRole,
  'Policies' | 'TemplatedPolicies' | 'ServiceIdentities' | 'NodeIdentities'
>;

export const linkList = (links: readonly { readonly Name: string }[]): string =>
  orDash(links.map(({ Name }) => oneLine(Name)).join(', '));

/** The identities and templated policies of a token or role. */
function identityRows(holder: Holder): [string, string][] {
  const at = (datacenters: readonly string[]) =>
    datacenters.length === 0 ? '' : ` (${datacenters.map(oneLine).join(', ')})`;
  const rows: [string, readonly string[]][] = [
    [
      'Services',
      holder.ServiceIdentities.map((one) => oneLine(one.ServiceName) + at(one.Datacenters)),
    ],
    ['Nodes', holder.NodeIdentities.map((one) => oneLine(one.NodeName) + at([one.Datacenter]))],
    [
      'Templates',
      holder.TemplatedPolicies.map(({ TemplateName, TemplateVariables, Datacenters }) => {
        const variable = TemplateVariables.name;
        return oneLine(TemplateName) + (variable ? `:${oneLine(variable)}` : '') + at(Datacenters);
      }),
    ],
  ];
  return rows.filter(([, list]) => list.length > 0).map(([name, list]) => [name, list.join(', ')]);
}

/** The namespace, and the partition if it is not `default`. */
export const placeRows = (row: {
  readonly Namespace: string;
  readonly Partition: string;
}): [string, string][] => [
  ['Namespace', oneLine(row.Namespace)],
  ...(row.Partition === 'default'
    ? []
    : [['Partition', oneLine(row.Partition)] as [string, string]]),
];

export async function showToken(context: Context, token: PresentedAclToken): Promise<void> {
  const { screen, nowMs } = context;
  await screen.fields([
    ['AccessorID', token.AccessorID],
    ['SecretID', token.SecretID],
    ['Description', orDash(token.Description)],
    ...placeRows(token),
    ['Local', String(token.Local)],
    ...(token.AuthMethod === '' ? [] : [['AuthMethod', oneLine(token.AuthMethod)] as const]),
    ['Policies', linkList(token.Policies)],
    ['Roles', linkList(token.Roles)],
    ...identityRows(token),
    ['Created', agoText(token.CreateTime, nowMs)],
    ['Expires', token.ExpirationTime ?? 'never'],
  ]);
}

/** An option of every command that makes a token. */
export const tokenSink: OptionDefinition = {
  name: 'token-sink-file',
  value: 'FILE',
  completes: 'file',
  description:
    "Write the token's secret to this file, readable only by its user, not to the screen.",
};

/**
 * Prints a new token. If its secret cannot be written to the given file, the secret is printed
 * instead: the first token is made only once, and its secret could not be read otherwise.
 */
export async function showNewToken(
  context: Context,
  token: PresentedAclToken,
  options: Options,
): Promise<number> {
  const made = 'The token was made: keep the secret that is shown, or delete the token.';
  const secret = { value: token.SecretID, made };
  return showSecret(context, options, secret, async (SecretID) => {
    if (context.isJson) await context.json(token);
    else await showToken(context, { ...token, SecretID });
  });
}

/**
 * Writes a secret to the file of `-token-sink-file`, if given. `show` gets the text to print instead.
 * `made` is the advice if the file cannot be written, since the secret is never printed again.
 */
export async function showSecret(
  context: Context,
  options: Options,
  { value, made }: { readonly value: string; readonly made: string },
  show: (shown: string) => Promise<void>,
): Promise<number> {
  const sink = options.text('tokenSinkFile');
  const fault = sink === undefined ? undefined : await unwritten(context, sink, value);
  await show(sink !== undefined && fault === undefined ? `in ${oneLine(sink)}` : value);
  if (fault === undefined) return exitCodes.ok;
  throw new CliError(`"${sink}" cannot be written: ${fault}.`, { hint: made });
}

async function unwritten({ environment }: Context, path: string, secret: string) {
  try {
    await environment.writeSecretFile(path, `${secret}\n`);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export async function showRole(context: Context, role: PresentedAclRole): Promise<void> {
  await context.screen.fields([
    ['ID', role.ID],
    ['Name', oneLine(role.Name)],
    ['Description', orDash(role.Description)],
    ...placeRows(role),
    ['Policies', linkList(role.Policies)],
    ...identityRows(role),
  ]);
}
