import { AclTokenSchema, type PresentedAclToken } from '../model/acl-token/acl-token.ts';
import { Text, TextMap, Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { nothing, underAccessControl } from './needs.ts';

const placed = { Namespace: Text(), Partition: Text() };

const LoginSchema = Type.Object({
  AuthMethod: Text(),
  BearerToken: Text(),
  Meta: TextMap(),
  ...placed,
});

const AuthUrlSchema = Type.Object({
  AuthMethod: Text(),
  RedirectURI: Text(),
  ClientNonce: Text(),
  Meta: TextMap(),
  ...placed,
});

const CallbackSchema = Type.Object({
  AuthMethod: Text(),
  State: Text(),
  Code: Text(),
  ClientNonce: Text(),
  /** The `iss` parameter of the redirect, if there is one. */
  Issuer: Text(),
  ...placed,
});

/** Logins need no permission, but access control has to be on. */
const anybody = underAccessControl(nothing);

export const loginEndpoints = endpoints(
  { group: 'logins', noun: 'login', family: 'registry' },
  {
    login: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/acl/login',
      summary: 'Log in with a credential of an auth method',
      body: { schema: LoginSchema, unknown: 'refuse' },
      answer: typed<PresentedAclToken>(AclTokenSchema),
      takesOldTokens: true,
      permission: anybody,
    },
    logout: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/acl/logout',
      summary: 'Delete the token of a login',
      answer: Type.Boolean(),
      permission: anybody,
    },
    oidcAuthUrl: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/acl/oidc/auth-url',
      summary: 'Start a login with a browser',
      body: { schema: AuthUrlSchema, unknown: 'refuse' },
      answer: Type.Object({ AuthURL: Text() }),
      takesOldTokens: true,
      permission: anybody,
    },
    oidcCallback: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/acl/oidc/callback',
      summary: 'Finish a login with a browser',
      body: { schema: CallbackSchema, unknown: 'refuse' },
      answer: typed<PresentedAclToken>(AclTokenSchema),
      takesOldTokens: true,
      permission: anybody,
    },
  },
);
