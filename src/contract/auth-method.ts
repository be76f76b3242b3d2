import {
  type AuthMethod,
  AuthMethodAnswerSchema,
  AuthMethodSchema,
  AuthMethodStubSchema,
} from '../model/auth-method/auth-method.ts';
import { type Input, Type } from '../model/schema.ts';
import { aclList, aclRead, aclWrite } from './acl.ts';
import { endpoints, typed, written } from './endpoint.ts';
import { sortsOf } from './sorts.ts';

const body = {
  example: {
    Name: 'ci',
    Type: 'jwt',
    MaxTokenTTL: '1h',
    Config: {
      JWKSURL: 'https://ci.example/jwks',
      BoundAudiences: ['roster'],
      ClaimMappings: { project: 'project' },
    },
  },
  schema: written<Input<AuthMethod>, AuthMethodWrite>(AuthMethodSchema),
  unknown: 'refuse',
  checkValues: false,
} as const;

/** `MaxTokenTTL` may be a text such as `5m`. */
export type AuthMethodWrite = Omit<Input<AuthMethod>, 'MaxTokenTTL' | 'SealedConfig'> & {
  readonly MaxTokenTTL?: string | number;
};

/** An auth method in an answer. Lists leave out `Config`. */
export type PresentedAuthMethod = Omit<AuthMethod, 'MaxTokenTTL' | 'Config' | 'SealedConfig'> & {
  /** A text such as `5m0s`; `0s` means no limit. */
  readonly MaxTokenTTL: string;
  readonly Config?: Readonly<Record<string, unknown>>;
};

export const authMethodEndpoints = endpoints(
  { group: 'auth-methods', noun: 'auth-method', family: 'registry' },
  {
    create: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/auth-method',
      summary: 'Create an auth method',
      body,
      answer: typed<PresentedAuthMethod>(AuthMethodAnswerSchema),
      permission: aclWrite,
    },
    read: {
      kind: 'read',
      path: '/v1/acl/auth-method/:name',
      summary: 'Read an auth method',
      blocking: true,
      answer: typed<PresentedAuthMethod>(AuthMethodAnswerSchema),
      permission: aclRead,
    },
    update: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/auth-method/:name',
      summary: 'Replace an auth method',
      body,
      answer: typed<PresentedAuthMethod>(AuthMethodAnswerSchema),
      permission: aclWrite,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/acl/auth-method/:name',
      summary: 'Delete an auth method, its binding rules and its tokens',
      answer: Type.Boolean(),
      permission: aclWrite,
    },
    list: {
      kind: 'list',
      path: '/v1/acl/auth-methods',
      summary: 'List auth methods',
      blocking: true,
      answer: typed<PresentedAuthMethod>(AuthMethodStubSchema),
      filter: AuthMethodStubSchema,
      sorts: sortsOf.authMethods,
      permission: aclList,
    },
  },
);
