import { createPublicKey, X509Certificate } from 'node:crypto';
import { formatDuration } from '../../base/duration.ts';
import { checkValues } from '../check-values.ts';
import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { defaultNamespace } from '../namespace/namespace.ts';
import { below, faultAt, type Path, quote, type Report } from '../path.ts';
import { type AuthMethod, AuthMethodSchema } from './auth-method.ts';
import {
  type JwtConfig,
  type KubernetesConfig,
  type OidcConfig,
  signatureAlgorithms,
  type TypedConfig,
} from './config.ts';
import { identityShape, selectorFault } from './identity.ts';
import { parseTemplate } from './template.ts';

const nameForm = /^[A-Za-z0-9_-]{1,128}$/;

/** Rules for every type. Source: docs/contract/access-control.md#auth-methods. */
export function authMethodFaults(
  method: Omit<AuthMethod, 'CreateIndex' | 'ModifyIndex'>,
  typed: TypedConfig | undefined,
): Fault[] {
  const faults = checkValues(AuthMethodSchema, method);
  const report: Report = (path, message) => faults.push(faultAt(path, message));
  const { Name, MaxTokenTTL, NamespaceRules } = method;
  const { namespaceRulesMax } = limits.authMethod;
  // Rules that are too many or too long are not read.
  const isBounded =
    NamespaceRules.length <= namespaceRulesMax &&
    faults.every(({ pointer }) => !pointer.startsWith('/NamespaceRules/'));
  if (!nameForm.test(Name)) {
    report(below(null, 'Name'), 'must be 1 to 128 letters, digits, "-" and "_"');
  }
  const { tokenTtlMinMs, tokenTtlMaxMs } = limits.acl;
  const bounds = [tokenTtlMinMs * 1e6, tokenTtlMaxMs * 1e6] as const;
  if (MaxTokenTTL !== 0 && (MaxTokenTTL < bounds[0] || MaxTokenTTL > bounds[1])) {
    const range = bounds.map(formatDuration).join(' to ');
    report(below(null, 'MaxTokenTTL'), `must be ${range}, got ${formatDuration(MaxTokenTTL)}`);
  }
  if (MaxTokenTTL === 0 && method.Type === 'oidc') {
    report(below(null, 'MaxTokenTTL'), 'is required of a method of the type oidc');
  }
  if (NamespaceRules.length > namespaceRulesMax) {
    report(below(null, 'NamespaceRules'), `must have at most ${namespaceRulesMax} rules`);
  }
  if (NamespaceRules.length > 0 && method.Namespace !== defaultNamespace) {
    const must = 'are only for methods in the namespace "default"';
    report(below(null, 'NamespaceRules'), must);
  }
  // A caller with the right to write methods of one namespace must not make tokens in another.
  const mapsNamespaces = typed?.type === 'kubernetes' && typed.config.MapNamespaces;
  if (mapsNamespaces && method.Namespace !== defaultNamespace) {
    const must = 'is only for methods in the namespace "default"';
    report(below(null, 'Config', 'MapNamespaces'), must);
  }
  if (typed !== undefined) {
    if (isBounded) checkNamespaceRules(method.NamespaceRules, typed, report);
    checkConfig(typed, report);
  }
  return faults;
}

function checkNamespaceRules(
  rules: AuthMethod['NamespaceRules'],
  typed: TypedConfig,
  report: Report,
): void {
  const shape = identityShape(typed);
  rules.forEach(({ Selector, BindNamespace }, index) => {
    const path = below(null, 'NamespaceRules', index);
    const fault = selectorFault(Selector, shape);
    if (fault !== undefined) report(below(path, 'Selector'), `is wrong: ${fault}`);
    const template = parseTemplate(BindNamespace, shape.variables);
    if (BindNamespace === '') report(below(path, 'BindNamespace'), 'is required');
    else if (typeof template === 'string') report(below(path, 'BindNamespace'), template);
  });
}

function checkConfig(typed: TypedConfig, report: Report): void {
  const at = (...keys: (string | number)[]): Path => below(null, 'Config', ...keys);
  switch (typed.type) {
    case 'jwt':
      checkCommon(typed.config, at, report);
      checkJwt(typed.config, at, report);
      break;
    case 'oidc':
      checkCommon(typed.config, at, report);
      checkOidc(typed.config, at, report);
      break;
    case 'kubernetes':
      checkKubernetes(typed.config, at, report);
      break;
  }
}

type At = (...keys: (string | number)[]) => Path;

function checkCommon(config: JwtConfig | OidcConfig, at: At, report: Report): void {
  config.JWTSupportedAlgs.forEach((algorithm, index) => {
    if ((signatureAlgorithms as readonly string[]).includes(algorithm)) return;
    const known = signatureAlgorithms.join(', ');
    report(at('JWTSupportedAlgs', index), `must be one of ${known}, got ${quote(algorithm)}`);
  });
  for (const field of ['ClaimMappings', 'ListClaimMappings'] as const)
    checkMappings(config, field, at, report);
  checkUrl(config.OIDCDiscoveryURL, at('OIDCDiscoveryURL'), report);
  checkCertificates(config.OIDCDiscoveryCACert, at('OIDCDiscoveryCACert'), report);
  if (config.OIDCDiscoveryCACert !== '' && config.OIDCDiscoveryURL === '') {
    report(at('OIDCDiscoveryCACert'), 'is only of use with OIDCDiscoveryURL');
  }
}

/** The names that fit into a selector and between the braces of a bind name. */
const mappedName = /^[^\s{}$]{1,128}$/;

function checkMappings(
  config: JwtConfig | OidcConfig,
  field: 'ClaimMappings' | 'ListClaimMappings',
  at: At,
  report: Report,
): void {
  const entries = Object.entries(config[field]);
  if (entries.length > limits.authMethod.claimMappingsMax) {
    report(at(field), `must have at most ${limits.authMethod.claimMappingsMax} entries`);
  }
  const seen = new Set<string>();
  for (const [claim, name] of entries) {
    if (!mappedName.test(name)) {
      report(at(field, claim), `must be a name without spaces and braces, got ${quote(name)}`);
    } else if (seen.has(name)) {
      report(at(field, claim), `maps to ${quote(name)}, as another claim does`);
    }
    seen.add(name);
  }
}

function checkJwt(config: JwtConfig, at: At, report: Report): void {
  const sources = (['JWTValidationPubKeys', 'JWKSURL', 'OIDCDiscoveryURL'] as const).filter(
    (field) => config[field].length > 0,
  );
  if (sources.length !== 1) {
    const got = sources.length === 0 ? 'none' : sources.join(' and ');
    const must = `must have exactly one of JWTValidationPubKeys, JWKSURL and OIDCDiscoveryURL, got ${got}`;
    report(at(), must);
  }
  config.JWTValidationPubKeys.forEach((key, index) => {
    const fault = publicKeyFault(key);
    if (fault !== undefined) report(at('JWTValidationPubKeys', index), fault);
  });
  checkUrl(config.JWKSURL, at('JWKSURL'), report);
  checkCertificates(config.JWKSCACert, at('JWKSCACert'), report);
  if (config.JWKSCACert !== '' && config.JWKSURL === '') {
    report(at('JWKSCACert'), 'is only of use with JWKSURL');
  }
}

function checkOidc(config: OidcConfig, at: At, report: Report): void {
  for (const field of ['OIDCDiscoveryURL', 'OIDCClientID', 'OIDCClientSecret'] as const) {
    if (config[field] === '') report(at(field), 'is required');
  }
  if (config.AllowedRedirectURIs.length === 0) report(at('AllowedRedirectURIs'), 'is required');
  config.AllowedRedirectURIs.forEach((uri, index) => {
    if (URL.parse(uri) === null)
      report(at('AllowedRedirectURIs', index), 'must be an absolute URI');
  });
}

function checkKubernetes(config: KubernetesConfig, at: At, report: Report): void {
  for (const field of ['Host', 'CACert', 'ServiceAccountJWT'] as const) {
    if (config[field] === '') report(at(field), 'is required');
  }
  checkUrl(config.Host, at('Host'), report);
  checkCertificates(config.CACert, at('CACert'), report);
  if (config.ServiceAccountJWT !== '' && !looksLikeJwt(config.ServiceAccountJWT)) {
    report(
      at('ServiceAccountJWT'),
      'must be a JWT: three parts of base64url with dots between them',
    );
  }
}

/** Plain HTTP can be changed on the way: an attacker could log in as anybody. */
function checkUrl(url: string, path: Path, report: Report): void {
  if (url === '') return;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    report(path, `must be an https URL, got ${quote(url)}`);
  } else if (parsed.username !== '' || parsed.password !== '') {
    report(path, 'must not hold a user or a password');
  } else if (parsed.protocol === 'http:' && !isLoopback(parsed.hostname)) {
    report(path, "must be an https URL; plain http is only for this machine's own addresses");
  }
}

export const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);

function checkCertificates(pem: string, path: Path, report: Report): void {
  if (pem === '') return;
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch {
    report(path, 'holds a certificate that cannot be read');
    return;
  }
  if (blocks.length === 0) report(path, 'must be PEM with at least one certificate');
}

function publicKeyFault(pem: string): string | undefined {
  // A server that only verifies must not have a key that can sign.
  if (pem.includes('PRIVATE KEY')) return 'must be a public key, got a private one';
  try {
    const { asymmetricKeyType: type } = createPublicKey(pem);
    if (type === 'rsa' || type === 'ec' || type === 'ed25519') return undefined;
    return `must be an RSA, EC or Ed25519 key, got ${type}`;
  } catch {
    return 'must be a public key or a certificate in PEM';
  }
}

/** Header, claims and signature in base64url; the first two are JSON objects. */
export function looksLikeJwt(text: string): boolean {
  const parts = text.trim().split('.');
  if (parts.length !== 3 || !parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part))) return false;
  try {
    return parts.slice(0, 2).every((part) => {
      const parsed: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
      return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    });
  } catch {
    return false;
  }
}

/** Milliseconds of a leeway in nanoseconds. 0: the default; below 0: no leeway. */
export const leewayMs = (nanoseconds: number, defaultMs: number): number =>
  nanoseconds === 0 ? defaultMs : Math.max(nanoseconds, 0) / 1e6;
