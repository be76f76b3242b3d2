import {
  IntroductionRequestSchema,
  IntroductionTokenSchema,
  MadeIntroductionSchema,
  type ShownIntroduction,
  ShownIntroductionSchema,
} from '../model/introduction-token/introduction-token.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';

/**
 * A new node may take any name that its token's pattern allows, so access to all nodes is needed.
 */
const onEveryNode = (access: 'read' | 'write') =>
  ({ kind: 'named', resource: 'node', access, name: '', extent: 'every' }) as const;

export const introductionTokenEndpoints = endpoints(
  { group: 'introduction-tokens', noun: 'introduction token', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/node/introduction-tokens',
      summary: 'List introduction tokens for nodes',
      blocking: true,
      answer: typed<ShownIntroduction>(ShownIntroductionSchema),
      filter: IntroductionTokenSchema,
      permission: onEveryNode('read'),
    },
    create: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/node/introduction-token',
      summary: 'Create an introduction token for nodes',
      body: {
        example: { Description: 'rack 4', NodeName: 'rack-4-*', Uses: 12, TTL: '1h' },
        schema: IntroductionRequestSchema,
        unknown: 'refuse',
        optional: true,
      },
      answer: typed<ShownIntroduction & { readonly SecretID: string }>(MadeIntroductionSchema),
      permission: onEveryNode('write'),
    },
    read: {
      kind: 'read',
      path: '/v1/node/introduction-token/:id',
      summary: 'Read an introduction token, without its secret',
      blocking: true,
      answer: typed<ShownIntroduction>(ShownIntroductionSchema),
      permission: onEveryNode('read'),
    },
    revoke: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/node/introduction-token/:id',
      summary: 'Revoke an introduction token',
      answer: Type.Boolean(),
      permission: onEveryNode('write'),
    },
  },
);
