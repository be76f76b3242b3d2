import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// @ts-expect-error: the package has no types.
import Provider from 'oidc-provider';

export interface RunningProvider {
  readonly issuer: string;
  /** Acts as a person in a browser: opens the address, logs in, consents. Returns the redirect. */
  browse(authUrl: string, login: string): Promise<URL>;
  close(): Promise<void>;
}

export const clientId = 'roster';
export const clientSecret = 'the-client-secret';
export const redirectUri = 'http://127.0.0.1:8250/oidc/callback';

/**
 * A real OpenID provider on this machine. Every login exists, in a group of the same name.
 * `redirectUris`: accepted redirects; the port of a loopback address is free, as for native
 * applications (RFC 8252 §7.3).
 */
export async function startOidcProvider(redirectUris = [redirectUri]): Promise<RunningProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code'],
        application_type: 'native',
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    findAccount: async (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, name: id.toUpperCase(), groups: [`${id}s`, 'all'] }),
    }),
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ['for tests'] },
    // The provider warns about each lifetime that is not set.
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  });
  server.on('request', provider.callback());
  const isBack = (url: URL) => redirectUris.some((uri) => url.href.startsWith(uri));
  return {
    issuer,
    browse: (url, login) => browse(url, login, isBack),
    close: () => closed(server),
  };
}

const closed = (server: ReturnType<typeof createServer>): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

/** Follows redirects and submits both forms until the provider redirects elsewhere. */
async function browse(authUrl: string, login: string, isBack: (url: URL) => boolean): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = authUrl;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 12; step++) {
    const response = await fetch(url, {
      redirect: 'manual',
      method: form === undefined ? 'GET' : 'POST',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';', 1)[0]!.split('=', 2);
      cookies.set(name, value);
    }
    form = undefined;
    const location = response.headers.get('location');
    if (location !== null) {
      const next = new URL(location, url);
      if (isBack(next)) return next;
      url = next.href;
      continue;
    }
    const page = await response.text();
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined) throw new Error(`no form at ${url}: ${page.slice(0, 500)}`);
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? 'login';
    url = new URL(action, url).href;
    form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login, password: 'x' }) });
  }
  throw new Error('the provider never sent the browser back');
}
