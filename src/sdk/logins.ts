import type {
  AuthMethodWrite,
  authMethodEndpoints,
  PresentedAuthMethod,
} from '../contract/auth-method.ts';
import type { bindingRuleEndpoints } from '../contract/binding-rule.ts';
import type { keyringEndpoints } from '../contract/keyring.ts';
import type { loginEndpoints } from '../contract/login.ts';
import type { BindingRule } from '../model/binding-rule/binding-rule.ts';
import type { Input } from '../model/schema.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

export type BindingRuleWrite = Input<BindingRule>;
export type PresentedBindingRule = Omit<BindingRule, 'BindVars'> & Partial<BindingRule>;

export interface OidcRedirect {
  readonly AuthMethod: string;
  readonly State: string;
  readonly Code: string;
  readonly ClientNonce: string;
  readonly Issuer?: string;
}

type Meta = Readonly<Record<string, string>>;

export type { AuthMethodWrite, PresentedAuthMethod };

export type AuthMethods = ReturnType<typeof authMethodsOf>;

export function authMethodsOf(requester: Requester) {
  const { read, write } = callsOf<typeof authMethodEndpoints>(requester);
  return {
    /** Without `Config`. */
    list: (options: ListOptions = {}) =>
      read('GET /v1/acl/auth-methods', {}, options, listQuery(options)),
    read: (name: string, options?: ReadOptions) =>
      read('GET /v1/acl/auth-method/:name', { name }, options),
    create: (method: AuthMethodWrite, options?: CallOptions) =>
      write('PUT /v1/acl/auth-method', {}, options, { body: method }),
    update: (name: string, method: AuthMethodWrite, options?: CallOptions) =>
      write('PUT /v1/acl/auth-method/:name', { name }, options, { body: method }),
    /** Also deletes its binding rules and tokens. `false`: there was no such method. */
    delete: (name: string, options?: CallOptions) =>
      write('DELETE /v1/acl/auth-method/:name', { name }, options),
  };
}

export type BindingRules = ReturnType<typeof bindingRulesOf>;

export function bindingRulesOf(requester: Requester) {
  const { read, write } = callsOf<typeof bindingRuleEndpoints>(requester);
  return {
    list: (options: ListOptions & { readonly authMethod?: string | undefined } = {}) =>
      read('GET /v1/acl/binding-rules', {}, options, {
        ...listQuery(options),
        authmethod: options.authMethod || undefined,
      }),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/acl/binding-rule/:rule_id', { rule_id: id }, options),
    create: (rule: BindingRuleWrite, options?: CallOptions) =>
      write('PUT /v1/acl/binding-rule', {}, options, { body: rule }),
    update: (id: string, rule: BindingRuleWrite, options?: CallOptions) =>
      write('PUT /v1/acl/binding-rule/:rule_id', { rule_id: id }, options, { body: rule }),
    delete: (id: string, options?: CallOptions) =>
      write('DELETE /v1/acl/binding-rule/:rule_id', { rule_id: id }, options),
  };
}

export type Logins = ReturnType<typeof loginsOf>;

export function loginsOf(requester: Requester) {
  const { write } = callsOf<typeof loginEndpoints>(requester);
  return {
    login: (
      login: { readonly AuthMethod: string; readonly BearerToken: string; readonly Meta?: Meta },
      options?: CallOptions,
    ) => write('POST /v1/acl/login', {}, options, { body: login }),
    /** Deletes the client's own token, which has to come from a login. */
    logout: (options?: CallOptions) => write('POST /v1/acl/logout', {}, options),
    oidcAuthUrl: (
      start: {
        readonly AuthMethod: string;
        readonly RedirectURI: string;
        readonly ClientNonce: string;
        readonly Meta?: Meta;
      },
      options?: CallOptions,
    ) => write('POST /v1/acl/oidc/auth-url', {}, options, { body: start }),
    oidcCallback: (finish: OidcRedirect, options?: CallOptions) =>
      write('POST /v1/acl/oidc/callback', {}, options, { body: finish }),
  };
}

export type Keyring = ReturnType<typeof keyringOf>;

export function keyringOf(requester: Requester) {
  const { read, write } = callsOf<typeof keyringEndpoints>(requester);
  return {
    list: (options: ListOptions = {}) =>
      read('GET /v1/operator/keyring/keys', {}, options, listQuery(options)),
    /** Activates a new key and seals every secret with it. */
    rotate: (options?: CallOptions) => write('PUT /v1/operator/keyring/rotate', {}, options),
  };
}
