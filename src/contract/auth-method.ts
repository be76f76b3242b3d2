import {
  AuthMethodAnswerSchema,
  AuthMethodSchema,
  AuthMethodStubSchema,
} from '../model/auth-method/auth-method.ts';
import { Type } from '../model/schema.ts';
import { aclList, aclRead, aclWrite } from './acl.ts';
import { endpoints } from './endpoint.ts';

export const body = { schema: AuthMethodSchema, unknown: 'refuse' } as const;

export const authMethodEndpoints = endpoints(
  { group: 'auth-methods', noun: 'auth-method', family: 'registry' },
  {
    create: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/auth-method',
      summary: 'Create an auth method',
      body,
      answer: AuthMethodAnswerSchema,
      permission: aclWrite,
    },
    read: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/acl/auth-method/:name',
      summary: 'Read an auth method',
      blocking: true,
      answer: AuthMethodAnswerSchema,
      permission: aclRead,
    },
    update: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/auth-method/:name',
      summary: 'Replace an auth method',
      body,
      answer: AuthMethodAnswerSchema,
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
      methods: ['GET'],
      path: '/v1/acl/auth-methods',
      summary: 'List auth methods',
      blocking: true,
      answer: AuthMethodStubSchema,
      filter: AuthMethodStubSchema,
      permission: aclList,
    },
  },
);
