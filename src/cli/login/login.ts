import type { Client, PresentedAclToken } from '../../sdk/client.ts';
import { pairs, readText } from '../acl/read-json.ts';
import { type Context, connect } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine } from '../render/text.ts';

const defaultCallback = 'localhost:8550';

export const login: ClientCommand = {
  definition: {
    options: [
      { name: 'method', value: 'NAME', description: 'The auth method to log in with.' },
      {
        name: 'bearer-token-file',
        value: 'FILE',
        completes: 'file',
        description: 'A JWT to show; - is standard input. Without it a browser is opened.',
      },
      {
        name: 'token-sink-file',
        value: 'FILE',
        completes: 'file',
        description: "Keep the token's secret in this file, for its user only.",
      },
      {
        name: 'meta',
        value: 'KEY=VALUE',
        isRepeatable: true,
        description: "Goes into the token's description. Repeatable.",
      },
      {
        name: 'callback-address',
        value: 'HOST:PORT',
        description: `Where the browser comes back to (${defaultCallback}).`,
      },
    ],
    details: `The auth method must allow the redirect URI http://HOST:PORT/oidc/callback.

Examples:
  roster login --method sso
  roster login --method ci --bearer-token-file /run/ci/token --token-sink-file ~/.roster-token`,
  },
  async run(context, _words, options) {
    const AuthMethod = options.text('method');
    if (AuthMethod === undefined) throw new CliError('--method is required: the auth method.');
    const Meta = pairs('meta', options.list('meta'));
    const client = await withoutToken(context, options);
    try {
      const path = options.text('bearerTokenFile');
      const token =
        path === undefined
          ? await throughBrowser(context, client, { AuthMethod, Meta }, options)
          : await withBearer(context, client, { AuthMethod, Meta }, path);
      return await present(context, token, options.text('tokenSinkFile'));
    } finally {
      await client.close();
    }
  },
};

/** A token that has ended must not stand in the way of getting another. */
const withoutToken = ({ environment }: Context, options: Options): Promise<Client> =>
  connect(
    { ...environment, env: { ...environment.env, ROSTER_TOKEN: '' } },
    { ...options, text: (name) => (name === 'token' ? undefined : options.text(name)) },
  );

interface Asked {
  readonly AuthMethod: string;
  readonly Meta: Readonly<Record<string, string>>;
}

async function withBearer(
  { environment }: Context,
  client: Client,
  asked: Asked,
  path: string,
): Promise<PresentedAclToken> {
  const BearerToken = (await readText(environment, path)).trim();
  return (await client.logins.login({ ...asked, BearerToken })).value;
}

async function throughBrowser(
  context: Context,
  client: Client,
  asked: Asked,
  options: Options,
): Promise<PresentedAclToken> {
  const { environment, notes } = context;
  const address = options.text('callbackAddress') ?? defaultCallback;
  const ClientNonce = environment.secrets.uuid();
  return context.untilInterrupted(async (signal) => {
    const redirect = await environment.browser.awaitRedirect(address, signal);
    try {
      const start = { ...asked, ClientNonce, RedirectURI: redirect.uri };
      const { value } = await client.logins.oidcAuthUrl(start, { signal });
      await notes.line(`Log in with your browser:\n\n  ${oneLine(value.AuthURL)}\n`);
      environment.browser.open(value.AuthURL);
      const query = await redirect.query;
      const [State, Code, Issuer] = ['state', 'code', 'iss'].map((name) => query.get(name));
      if (!State || !Code) throw new CliError(`The provider refused: ${saidIn(query)}.`);
      const finish = { AuthMethod: asked.AuthMethod, ClientNonce, State, Code };
      const whole = Issuer ? { ...finish, Issuer } : finish;
      return (await client.logins.oidcCallback(whole, { signal })).value;
    } finally {
      await redirect.close();
    }
  });
}

const saidIn = (query: URLSearchParams): string =>
  oneLine(query.get('error_description') ?? query.get('error') ?? 'it gave no reason').slice(
    0,
    256,
  );

async function present(
  context: Context,
  token: PresentedAclToken,
  sink: string | undefined,
): Promise<number> {
  if (sink !== undefined) await context.environment.writeSecretFile(sink, `${token.SecretID}\n`);
  if (context.isJson) {
    await context.json(token);
    return exitCodes.ok;
  }
  await context.screen.fields([
    ['Accessor', token.AccessorID],
    sink === undefined ? ['Secret', token.SecretID] : ['Secret', `in ${oneLine(sink)}`],
    ['Method', oneLine(token.AuthMethod)],
    ['Namespace', oneLine(token.Namespace)],
    ['Ends', token.ExpirationTime ?? 'with a logout'],
  ]);
  if (sink === undefined) {
    await context.notes.line(`\nexport ROSTER_TOKEN=${token.SecretID}`);
  }
  return exitCodes.ok;
}
