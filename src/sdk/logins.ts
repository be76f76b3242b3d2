import type { PresentedAclToken } from '../model/acl-token/acl-token.ts';
import type { AuthMethod } from '../model/auth-method/auth-method.ts';
import type { BindingRule } from '../model/binding-rule/binding-rule.ts';
import type { PresentedKeyringKey } from '../model/keyring/keyring-key.ts';
import type { Input } from '../model/schema.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** `MaxTokenTTL` may also be written as `5m`. */
export type AuthMethodWrite = Omit<Input<AuthMethod>, 'MaxTokenTTL' | 'SealedConfig'> & {
  readonly MaxTokenTTL?: string | number;
};

/** As it is shown; a list leaves out `Config`. */
export type PresentedAuthMethod = Omit<AuthMethod, 'MaxTokenTTL' | 'Config' | 'SealedConfig'> & {
  /** `5m0s`; `0s` is no limit. */
  readonly MaxTokenTTL: string;
  readonly Config?: Readonly<Record<string, unknown>>;
};

export interface AuthMethods {
  /** Without `Config`. */
  list(options?: ListOptions): Promise<Answer<readonly PresentedAuthMethod[]>>;
  read(name: string, options?: ReadOptions): Promise<Answer<PresentedAuthMethod>>;
  create(method: AuthMethodWrite, options?: CallOptions): Promise<Answer<PresentedAuthMethod>>;
  update(
    name: string,
    method: AuthMethodWrite,
    options?: CallOptions,
  ): Promise<Answer<PresentedAuthMethod>>;
  /** With its binding rules and tokens. `false` when there was none. */
  delete(name: string, options?: CallOptions): Promise<Answer<boolean>>;
}

export type BindingRuleWrite = Input<BindingRule>;
export type PresentedBindingRule = Omit<BindingRule, 'BindVars'> & Partial<BindingRule>;

export interface BindingRules {
  list(
    options?: ListOptions & { readonly authMethod?: string | undefined },
  ): Promise<Answer<readonly PresentedBindingRule[]>>;
  read(id: string, options?: ReadOptions): Promise<Answer<PresentedBindingRule>>;
  create(rule: BindingRuleWrite, options?: CallOptions): Promise<Answer<PresentedBindingRule>>;
  update(
    id: string,
    rule: BindingRuleWrite,
    options?: CallOptions,
  ): Promise<Answer<PresentedBindingRule>>;
  delete(id: string, options?: CallOptions): Promise<Answer<boolean>>;
}

export interface OidcRedirect {
  readonly AuthMethod: string;
  readonly State: string;
  readonly Code: string;
  readonly ClientNonce: string;
  readonly Issuer?: string;
}

type Meta = Readonly<Record<string, string>>;

export interface Logins {
  login(
    login: { readonly AuthMethod: string; readonly BearerToken: string; readonly Meta?: Meta },
    options?: CallOptions,
  ): Promise<Answer<PresentedAclToken>>;
  /** Ends the client's own token, which came from a login. */
  logout(options?: CallOptions): Promise<Answer<boolean>>;
  oidcAuthUrl(
    start: {
      readonly AuthMethod: string;
      readonly RedirectURI: string;
      readonly ClientNonce: string;
      readonly Meta?: Meta;
    },
    options?: CallOptions,
  ): Promise<Answer<{ readonly AuthURL: string }>>;
  oidcCallback(finish: OidcRedirect, options?: CallOptions): Promise<Answer<PresentedAclToken>>;
}

export interface Keyring {
  list(options?: ListOptions): Promise<Answer<readonly PresentedKeyringKey[]>>;
  /** Makes a new key active and seals every secret anew. */
  rotate(options?: CallOptions): Promise<Answer<{ readonly Key: PresentedKeyringKey }>>;
}

export const authMethodsOf = (requester: Requester): AuthMethods => ({
  list: (options = {}) => requester.read('/v1/acl/auth-methods', options, listQuery(options)),
  read: (name, options) => requester.read(path`/v1/acl/auth-method/${name}`, options),
  create: (method, options) => requester.write('PUT', '/v1/acl/auth-method', options, method),
  update: (name, method, options) =>
    requester.write('PUT', path`/v1/acl/auth-method/${name}`, options, method),
  delete: (name, options) => requester.write('DELETE', path`/v1/acl/auth-method/${name}`, options),
});

export const bindingRulesOf = (requester: Requester): BindingRules => ({
  list: (options = {}) =>
    requester.read('/v1/acl/binding-rules', options, {
      ...listQuery(options),
      authmethod: options.authMethod || undefined,
    }),
  read: (id, options) => requester.read(path`/v1/acl/binding-rule/${id}`, options),
  create: (rule, options) => requester.write('PUT', '/v1/acl/binding-rule', options, rule),
  update: (id, rule, options) =>
    requester.write('PUT', path`/v1/acl/binding-rule/${id}`, options, rule),
  delete: (id, options) => requester.write('DELETE', path`/v1/acl/binding-rule/${id}`, options),
});

export const loginsOf = (requester: Requester): Logins => ({
  login: (login, options) => requester.write('POST', '/v1/acl/login', options, login),
  logout: (options) => requester.write('POST', '/v1/acl/logout', options),
  oidcAuthUrl: (start, options) => requester.write('POST', '/v1/acl/oidc/auth-url', options, start),
  oidcCallback: (finish, options) =>
    requester.write('POST', '/v1/acl/oidc/callback', options, finish),
});

export const keyringOf = (requester: Requester): Keyring => ({
  list: (options = {}) => requester.read('/v1/operator/keyring/keys', options, listQuery(options)),
  rotate: (options) => requester.write('PUT', '/v1/operator/keyring/rotate', options),
});
