import {
  IntroductionRequestSchema,
  IntroductionTokenSchema,
  MadeIntroductionSchema,
  type ShownIntroduction,
  ShownIntroductionSchema,
} from '../model/introduction-token/introduction-token.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';

/** Whoever brings a node in can call it whatever a token's pattern allows. */
const onEveryNode = (access: 'read' | 'write') =>
  ({ kind: 'named', resource: 'node', access, name: '', extent: 'every' }) as const;

export const introductionTokenEndpoints = endpoints(
  { group: 'introduction-tokens', noun: 'introduction token', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/node/introduction-tokens',
      summary: 'List the tokens that bring nodes in',
      blocking: true,
      answer: typed<ShownIntroduction>(ShownIntroductionSchema),
      filter: IntroductionTokenSchema,
      permission: onEveryNode('read'),
    },
    create: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/node/introduction-token',
      summary: 'Make a token that brings nodes in',
      body: { schema: IntroductionRequestSchema, unknown: 'refuse', optional: true },
      answer: typed<ShownIntroduction & { readonly SecretID: string }>(MadeIntroductionSchema),
      permission: onEveryNode('write'),
    },
    read: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/node/introduction-token/:id',
      summary: 'Read a token that brings nodes in, without its secret',
      blocking: true,
      answer: typed<ShownIntroduction>(ShownIntroductionSchema),
      permission: onEveryNode('read'),
    },
    revoke: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/node/introduction-token/:id',
      summary: 'Revoke a token that brings nodes in',
      answer: Type.Boolean(),
      permission: onEveryNode('write'),
    },
  },
);
