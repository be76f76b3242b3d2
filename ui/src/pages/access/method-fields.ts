/** The fields of the configuration of an auth method that its form offers. The raw JSON has all of them. */
export interface MethodField {
  readonly key: string;
  readonly title: string;
  readonly hint?: string;
  /** `lines`: a list, one a line; `map`: `claim = name` on each line. */
  readonly kind: 'text' | 'long' | 'lines' | 'map' | 'secret';
  readonly isOptional?: boolean;
}

export type Config = Readonly<Record<string, unknown>>;
export const methodTypes = ['jwt', 'oidc', 'kubernetes'] as const;
export type MethodType = (typeof methodTypes)[number];

const claims: MethodField = {
  key: 'ClaimMappings',
  title: 'Claims',
  hint: 'On each line: claim = name in selectors and bind names.',
  kind: 'map',
  isOptional: true,
};
const listClaims: MethodField = {
  key: 'ListClaimMappings',
  title: 'Claims that are lists',
  kind: 'map',
  isOptional: true,
};
const audiences: MethodField = {
  key: 'BoundAudiences',
  title: 'Audiences',
  hint: 'A credential must have one of them. One on each line.',
  kind: 'lines',
  isOptional: true,
};

export const methodFields: Readonly<Record<MethodType, readonly MethodField[]>> = {
  jwt: [
    {
      key: 'JWKSURL',
      title: 'Address of the keys (JWKS)',
      hint: 'Exactly one of this, the discovery address and the public keys.',
      kind: 'text',
      isOptional: true,
    },
    { key: 'OIDCDiscoveryURL', title: 'Discovery address', kind: 'text', isOptional: true },
    {
      key: 'JWTValidationPubKeys',
      title: 'Public keys',
      hint: 'PEM. Several keys: one block below the other.',
      kind: 'long',
      isOptional: true,
    },
    { key: 'BoundIssuer', title: 'Issuer', kind: 'text', isOptional: true },
    audiences,
    claims,
    listClaims,
  ],
  oidc: [
    { key: 'OIDCDiscoveryURL', title: 'Discovery address', kind: 'text' },
    { key: 'OIDCClientID', title: 'Client id', kind: 'text' },
    { key: 'OIDCClientSecret', title: 'Client secret', kind: 'secret' },
    {
      key: 'AllowedRedirectURIs',
      title: 'Allowed redirect addresses',
      hint: 'One on each line. This interface needs its address with /ui/sign-in/oidc.',
      kind: 'lines',
    },
    { key: 'OIDCScopes', title: 'Scopes', kind: 'lines', isOptional: true },
    audiences,
    claims,
    listClaims,
  ],
  kubernetes: [
    { key: 'Host', title: 'Address of the Kubernetes API', kind: 'text' },
    { key: 'CACert', title: 'Certificate of its authority', hint: 'PEM.', kind: 'long' },
    { key: 'ServiceAccountJWT', title: 'Token of the service account', kind: 'secret' },
  ],
};

const pemBlock = /-----BEGIN [^-]+-----[\s\S]*?-----END [^-]+-----/g;

/** How a value stands in its field. */
export function fieldText({ kind, key }: MethodField, config: Config): string {
  const value = config[key];
  if (Array.isArray(value)) return value.join('\n');
  if (kind === 'map' && typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([claim, name]) => `${claim} = ${String(name)}`)
      .join('\n');
  }
  return value === undefined || value === null ? '' : String(value);
}

/** The configuration with the text of a field; an empty one is left out. */
export function withField({ kind, key }: MethodField, text: string, config: Config): Config {
  const { [key]: _, ...rest } = config;
  if (text.trim() === '') return rest;
  return { ...rest, [key]: parsed(kind, key, text) };
}

function parsed(kind: MethodField['kind'], key: string, text: string): unknown {
  if (key === 'JWTValidationPubKeys') return text.match(pemBlock) ?? [text];
  if (kind === 'lines') return text.split('\n').filter((line) => line.trim() !== '');
  if (kind !== 'map') return text;
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [claim = '', ...name] = line.split('=');
        return [claim.trim(), name.join('=').trim() || claim.trim()];
      }),
  );
}

/** A duration for a field, from the API: "1h" of "1h0m0s", and nothing of "0s". */
export const typedDuration = (written: string): string =>
  written === '0s' ? '' : written.replace(/([hm])0s$/, '$1').replace(/h0m$/, 'h');
