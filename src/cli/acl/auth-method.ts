import type { AuthMethodWrite, PresentedAuthMethod } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ArgumentDefinition, ClientCommand, OptionDefinition } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine, orDash } from '../render/text.ts';
import { readJson } from '../text-file.ts';

const name: ArgumentDefinition = {
  name: 'NAME',
  kind: 'word',
  isRequired: true,
  description: 'Name of the auth method.',
};

const fields: readonly OptionDefinition[] = [
  { name: 'description', value: 'TEXT', description: 'What it is for.' },
  { name: 'display-name', value: 'TEXT', description: 'Shown instead of the name.' },
  { name: 'max-token-ttl', value: 'DURATION', description: 'How long its tokens live: 5m, 8h.' },
  {
    name: 'token-locality',
    value: 'WORD',
    choices: ['local', 'global'],
    description: 'Where its tokens hold (local).',
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

export const authMethodCreate: ClientCommand = {
  definition: {
    arguments: [name],
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
  },
  async run(context, [given], options) {
    const Type = options.text('type');
    if (Type === undefined) throw new CliError('--type is required: jwt, oidc or kubernetes.');
    const written = { Name: given!, Type, ...(await givenFields(context, options)) };
    const { value } = await context.client.authMethods.create(written);
    return show(context, value);
  },
};

export const authMethodUpdate: ClientCommand = {
  definition: {
    arguments: [name],
    options: fields,
    details: 'What is not given stays as it is. The type cannot change.',
  },
  async run(context, [given], options) {
    const { value: stored } = await context.client.authMethods.read(given!);
    const written = { ...stored, ...(await givenFields(context, options)) };
    const { value } = await context.client.authMethods.update(given!, written);
    return show(context, value);
  },
};

export const authMethodRead: ClientCommand = {
  definition: { arguments: [name] },
  async run(context, [given]) {
    const { value } = await context.client.authMethods.read(given!);
    return show(context, value);
  },
};

export const authMethodDelete: ClientCommand = {
  definition: {
    arguments: [name],
    details: 'Its binding rules and every token it made end with it.',
  },
  async run(context, [given]) {
    const { value } = await context.client.authMethods.delete(given!);
    if (!value) throw new CliError(`There is no auth method "${given}".`);
    if (context.isJson) await context.json(value);
    else await context.screen.line(`Auth method "${oneLine(given!)}" deleted.`);
    return exitCodes.ok;
  },
};

export const authMethodList: ClientCommand = {
  definition: {},
  async run(context) {
    const { value } = await context.client.authMethods.list();
    if (context.isJson) {
      await context.json(value);
    } else if (value.length === 0) {
      await context.screen.line('There are no auth methods.');
    } else {
      const rows = value.map((method) => [
        oneLine(method.Name),
        method.Type,
        orDash(lifetime(method)),
        orDash(oneLine(method.DisplayName || method.Description)),
      ]);
      await context.screen.table(['Name', 'Type', 'Token TTL', 'About'], rows);
    }
    return exitCodes.ok;
  },
};

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

/** Empty where nothing bounds it. */
const lifetime = ({ MaxTokenTTL }: PresentedAuthMethod): string =>
  MaxTokenTTL === '0s' ? '' : MaxTokenTTL;

async function show(context: Context, method: PresentedAuthMethod): Promise<number> {
  if (context.isJson) {
    await context.json(method);
    return exitCodes.ok;
  }
  const { screen } = context;
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
  return exitCodes.ok;
}
