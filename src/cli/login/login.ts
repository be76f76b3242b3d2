import { limits } from '../../model/limits.ts';
import type { PresentedAclToken } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError, exitCodes, explainError } from '../errors.ts';
import type { Options } from '../options.ts';
import { pairs } from '../pairs.ts';
import { oneLine } from '../render/text.ts';
import { readText } from '../text-file.ts';
import type { Arrival, Redirect } from './browser.ts';

const defaultCallback = 'localhost:8550';

export const login: ClientCommand = {
  words: ['login'],
  summary: 'Log in and get a token.',
  definition: {
    // A token that has expired, or whose file is missing, must not prevent a new login.
    isAnonymous: true,
    arguments: [{ ...argument('METHOD', 'The auth method to log in with.'), flags: ['method'] }],
    options: [
      {
        name: 'bearer-token-file',
        value: 'FILE',
        completes: 'file',
        description: 'A file with a JWT; - is standard input. By default a browser is opened.',
      },
      {
        name: 'token-sink-file',
        value: 'FILE',
        completes: 'file',
        description: "Write the token's secret to this file, readable only by its user.",
      },
      {
        name: 'meta',
        value: 'KEY=VALUE',
        isRepeatable: true,
        description: "A label in the token's description; may be repeated.",
      },
      {
        name: 'callback-address',
        value: 'HOST:PORT',
        description: `Local address for the redirect of the browser (${defaultCallback}).`,
      },
    ],
    details: `The auth method must allow the redirect URI http://HOST:PORT/oidc/callback.

Examples:
  roster login sso
  roster login ci --bearer-token-file /run/ci/token --token-sink-file ~/.roster-token`,
  },
  async run(context, [AuthMethod = ''], options) {
    const Meta = pairs('meta', options.list('meta'));
    const path = options.text('bearerTokenFile');
    const token =
      path === undefined
        ? await throughBrowser(context, { AuthMethod, Meta }, options)
        : await withBearer(context, { AuthMethod, Meta }, path);
    return present(context, token, options.text('tokenSinkFile'));
  },
};

interface Asked {
  readonly AuthMethod: string;
  readonly Meta: Readonly<Record<string, string>>;
}

async function withBearer(
  context: Context,
  asked: Asked,
  path: string,
): Promise<PresentedAclToken> {
  const BearerToken = (await readText(context, path, 'token')).trim();
  return (await context.client.logins.login({ ...asked, BearerToken })).value;
}

async function throughBrowser(
  context: Context,
  asked: Asked,
  options: Options,
): Promise<PresentedAclToken> {
  const { client, environment, notes } = context;
  const address = options.text('callbackAddress') ?? defaultCallback;
  const ClientNonce = environment.secrets.uuid();
  return context.untilInterrupted((interrupted) =>
    withinAge(environment, interrupted, async (signal) => {
      const redirect = await environment.browser.awaitRedirect(address, signal);
      try {
        const start = { ...asked, ClientNonce, RedirectURI: redirect.uri };
        const { AuthURL } = (await client.logins.oidcAuthUrl(start, { signal })).value;
        const State = stateIn(AuthURL);
        await notes.line(`Log in with your browser:\n\n  ${oneLine(AuthURL)}\n`);
        environment.browser.open(AuthURL);
        const arrival = await arrivalWith(State, redirect, context);
        return await answered(arrival, async () => {
          const [Code, Issuer] = ['code', 'iss'].map((name) => arrival.query.get(name));
          if (!Code) throw new CliError(`The provider refused: ${saidIn(arrival.query)}.`);
          const finish = { AuthMethod: asked.AuthMethod, ClientNonce, State, Code };
          const whole = Issuer ? { ...finish, Issuer } : finish;
          return (await client.logins.oidcCallback(whole, { signal })).value;
        });
      } finally {
        await redirect.close();
      }
    }),
  );
}

/** @throws CliError if the address, which comes from the provider, cannot begin a login */
function stateIn(authUrl: string): string {
  const url = URL.parse(authUrl);
  const state = url?.searchParams.get('state');
  if (state && /^https?:$/.test(url?.protocol ?? '')) return state;
  throw new CliError('The server named an address that begins no login.', {
    hint: 'Check the auth method and its OIDCDiscoveryURL.',
  });
}

/** Ends the wait when the server has forgotten the login. */
async function withinAge<T>(
  { timers }: CliEnvironment,
  interrupted: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { ageMs } = limits.oidcSession;
  const late = new AbortController();
  const timer = timers.after(ageMs, () => {
    const error = new CliError(`Nobody has logged in within ${ageMs / 60_000} minutes.`, {
      hint: 'Begin again with "roster login".',
    });
    late.abort(error);
  });
  try {
    return await run(AbortSignal.any([interrupted, late.signal]));
  } finally {
    timer.clear();
  }
}

/**
 * Waits for the redirect of this login. Any page can send the browser here with another state; such a request
 * must neither log anybody in nor end the wait.
 */
async function arrivalWith(
  state: string,
  redirect: Redirect,
  { notes }: Context,
): Promise<Arrival> {
  for (let isTold = false; ; isTold = true) {
    const arrival = await redirect.next();
    if (arrival.query.get('state') === state) return arrival;
    await arrival.answer({
      isFine: false,
      title: 'The login was refused',
      text: 'This is the answer to another login, or to one that was used before.',
    });
    if (isTold) continue;
    await notes.line('The answer to another login was refused. This one still waits for yours.');
  }
}

/** Shows the outcome in the browser, too. */
async function answered<T>(arrival: Arrival, finish: () => Promise<T>): Promise<T> {
  try {
    const value = await finish();
    const text = 'The command line has your token now.';
    await arrival.answer({ isFine: true, title: 'You are logged in', text });
    return value;
  } catch (error) {
    const text = explainError(error)?.message ?? 'Something went wrong.';
    await arrival.answer({ isFine: false, title: 'The login was refused', text });
    throw error;
  }
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
