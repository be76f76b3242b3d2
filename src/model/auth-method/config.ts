import { decode } from '../codec.ts';
import { complete } from '../complete.ts';
import type { Fault } from '../errors.ts';
import { RosterError } from '../errors.ts';
import { limits } from '../limits.ts';
import { Flag, FullList, FullMapOf, type Model, Nanoseconds, Text, Type } from '../schema.ts';
import type { AuthMethod, AuthMethodType } from './auth-method.ts';

/**
 * The `Config` of each type of auth method. The algorithms are all asymmetric: a public key must never pass
 * as an HMAC secret. Source: docs/behaviour/access-control.md#types-of-auth-methods.
 */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
] as const;

const long = { maxLength: limits.authMethod.configTextLengthMax };
const pem = { maxLength: limits.authMethod.pemLengthMax };

const common = {
  JWTSupportedAlgs: FullList(Text()),
  BoundAudiences: FullList(Text(long)),
  /** The name in selectors and bind names, by claim (or JSON pointer into the claims). */
  ClaimMappings: FullMapOf(Text(long)),
  /** The same names for claims that are lists. */
  ListClaimMappings: FullMapOf(Text(long)),
  OIDCDiscoveryURL: Text(long),
  OIDCDiscoveryCACert: Text(pem),
};

export const JwtConfigSchema = Type.Object({
  ...common,
  JWTValidationPubKeys: FullList(Text(pem)),
  JWKSURL: Text(long),
  JWKSCACert: Text(pem),
  BoundIssuer: Text(long),
  /** 0: 150 s; below 0: none. */
  ExpirationLeeway: Nanoseconds(),
  NotBeforeLeeway: Nanoseconds(),
  /** 0: 60 s; below 0: none. */
  ClockSkewLeeway: Nanoseconds(),
});
export type JwtConfig = Model<typeof JwtConfigSchema>;

export const OidcConfigSchema = Type.Object({
  ...common,
  OIDCClientID: Text(long),
  OIDCClientSecret: Text(long),
  AllowedRedirectURIs: FullList(Text(long)),
  OIDCScopes: FullList(Text(long)),
  OIDCACRValues: FullList(Text(long)),
  VerboseOIDCLogging: Flag(),
});
export type OidcConfig = Model<typeof OidcConfigSchema>;

export const KubernetesConfigSchema = Type.Object({
  Host: Text(long),
  CACert: Text(pem),
  ServiceAccountJWT: Text(pem),
  /** Whether the token lives in the namespace that the service account's namespace maps to. */
  MapNamespaces: Flag(),
  NamespacePrefix: Text(long),
  /** The token's namespace, by the namespace of the service account, before the prefix is added. */
  NamespaceOverrides: FullMapOf(Text(long)),
});
export type KubernetesConfig = Model<typeof KubernetesConfigSchema>;

export type TypedConfig =
  | { readonly type: 'jwt'; readonly config: JwtConfig }
  | { readonly type: 'oidc'; readonly config: OidcConfig }
  | { readonly type: 'kubernetes'; readonly config: KubernetesConfig };

const schemas = {
  jwt: JwtConfigSchema,
  oidc: OidcConfigSchema,
  kubernetes: KubernetesConfigSchema,
} as const;

/** Fields of `Config` that are sealed at rest and shown only with `acl:write`. */
export const secretFields: Readonly<Record<AuthMethodType, readonly string[]>> = {
  jwt: [],
  oidc: ['OIDCClientSecret'],
  kubernetes: ['ServiceAccountJWT'],
};

export interface ReadConfig {
  /** `undefined` if there are faults. */
  readonly typed: TypedConfig | undefined;
  /** The given fields by the schema's names, with the values as they were written. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly faults: readonly Fault[];
}

/** Reads a raw `Config` by its type, and tells all faults of its form together. */
export function readConfig(
  type: AuthMethodType,
  raw: Readonly<Record<string, unknown>>,
): ReadConfig {
  const schema = schemas[type];
  try {
    const { value } = decode(schema, { ...raw }, { unknown: 'refuse', at: [] });
    const names = new Map(Object.keys(schema.properties).map((name) => [name.toLowerCase(), name]));
    const given = Object.fromEntries(
      Object.entries(raw)
        .filter(([, one]) => one !== null)
        .map(([key, one]) => [names.get(key.toLowerCase()) ?? key, one]),
    );
    const typed = { type, config: complete(schema as never, value as never) } as TypedConfig;
    return { typed, given, faults: [] };
  } catch (error) {
    if (!(error instanceof RosterError)) throw error;
    return { typed: undefined, given: {}, faults: error.errors.map(belowConfig) };
  }
}

const belowConfig = ({ pointer, message }: Fault): Fault => ({
  pointer: `/Config${pointer}`,
  message: `Config.${message}`,
});

/** The configuration of a stored method, with its secrets opened. */
export function configOf(method: AuthMethod, open: (sealed: string) => string): TypedConfig {
  const secrets = Object.entries(method.SealedConfig ?? {}).map(
    ([name, sealed]) => [name, open(sealed)] as const,
  );
  const whole = { ...method.Config, ...Object.fromEntries(secrets) };
  const { typed, faults } = readConfig(method.Type as AuthMethodType, whole);
  if (typed === undefined)
    throw new Error(`a stored auth method is at fault: ${faults[0]?.message}`);
  return typed;
}
