import type { AuthMethodWrite, PresentedAuthMethod } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { argument, description, type OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import { nounList } from '../list-command.ts';
import { nounCommands } from '../noun-commands.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { readJson } from '../text-file.ts';

const name = argument('NAME', 'Name of the auth method.');

const fields: readonly OptionDefinition[] = [
  description,
  { name: 'display-name', value: 'TEXT', description: 'Shown instead of the name.' },
  { name: 'max-token-ttl', value: 'DURATION', description: 'Lifetime of its tokens: 5m, 8h.' },
  {
    name: 'token-locality',
    value: 'WORD',
    choices: ['local', 'global'],
    description: 'Where its tokens are valid (local).',
  },
  {
    name: 'config',
    value: 'FILE',
    completes: 'file',
    description: 'Its configuration in JSON; - is standard input.',
  },
  {
    name: 'namespace-rules',
    value: 'FILE',
    completes: 'file',
    description: 'A JSON list of {Selector, BindNamespace}.',
  },
];

const configDetails = `The configuration of each type:
  jwt         one of JWTValidationPubKeys, JWKSURL, OIDCDiscoveryURL; BoundIssuer, BoundAudiences,
              ClaimMappings, ListClaimMappings, JWTSupportedAlgs, leeways
  oidc        OIDCDiscoveryURL, OIDCClientID, OIDCClientSecret, AllowedRedirectURIs; OIDCScopes …
  kubernetes  Host, CACert, ServiceAccountJWT`;

export const authMethods = nounCommands<PresentedAuthMethod>({
  words: ['acl', 'auth-method'],
  one: 'an auth method',
  many: 'the auth methods',
  argument: name,
  read: (client, name) => client.authMethods.read(name),
  print,
  list: nounList({
    request: 'GET /v1/acl/auth-methods',
    empty: 'There are no auth methods.',
    columns: {
      Name: ({ Name }) => oneLine(Name),
      Type: ({ Type }) => Type,
      'Token TTL': (method) => orDash(lifetime(method)),
      About: ({ DisplayName, Description }) => orDash(oneLine(DisplayName || Description)),
    },
  }),
  create: {
    arguments: [{ ...name, flags: ['name'] }],
    options: [
      {
        name: 'type',
        value: 'TYPE',
        choices: ['jwt', 'oidc', 'kubernetes'],
        description: 'How it verifies a login.',
      },
      ...fields,
    ],
    details: configDetails,
    async write(context, given, options) {
      const Type = options.text('type');
      if (Type === undefined) throw new CliError('--type is required: jwt, oidc or kubernetes.');
      const written = { Name: given!, Type, ...(await givenFields(context, options)) };
      return context.client.authMethods.create(written);
    },
  },
  update: {
    options: fields,
    details: 'Fields that are not given stay. The type cannot change.',
    async write(context, { id, record }, options) {
      const written = { ...record, ...(await givenFields(context, options)) };
      return context.client.authMethods.update(id, written);
    },
  },
  delete: {
    details: 'Its binding rules and every token that it made are deleted with it.',
    run: (client, name) => client.authMethods.delete(name),
    name: (given) => `"${given}"`,
    done: (given) => `Auth method "${oneLine(given)}" deleted.`,
  },
});

async function givenFields(context: Context, options: Options): Promise<Partial<AuthMethodWrite>> {
  const texts = {
    Description: options.text('description'),
    DisplayName: options.text('displayName'),
    MaxTokenTTL: options.text('maxTokenTtl'),
    TokenLocality: options.text('tokenLocality'),
  };
  const files = { Config: options.text('config'), NamespaceRules: options.text('namespaceRules') };
  const written: Record<string, unknown> = {};
  for (const [field, text] of Object.entries(texts)) if (text !== undefined) written[field] = text;
  for (const [field, path] of Object.entries(files)) {
    if (path !== undefined) written[field] = await readJson(context, path, field);
  }
  return written as Partial<AuthMethodWrite>;
}

/** Empty if unlimited. */
const lifetime = ({ MaxTokenTTL }: PresentedAuthMethod): string =>
  MaxTokenTTL === '0s' ? '' : MaxTokenTTL;

async function print({ screen }: Context, method: PresentedAuthMethod): Promise<void> {
  const optional = (label: string, text: string) => (text ? [[label, oneLine(text)] as const] : []);
  await screen.fields([
    ['Name', oneLine(method.Name)],
    ['Type', method.Type],
    ['Namespace', oneLine(method.Namespace)],
    ...optional('Display name', method.DisplayName),
    ...optional('Description', method.Description),
    ...optional('Token TTL', lifetime(method)),
    ...optional('Token locality', method.TokenLocality),
  ]);
  await screen.title('Config');
  await screen.line(JSON.stringify(method.Config ?? {}, null, 2));
  for (const { Selector, BindNamespace } of method.NamespaceRules) {
    await screen.line(`Namespace ${oneLine(BindNamespace)} if ${oneLine(Selector) || 'anybody'}`);
  }
}
