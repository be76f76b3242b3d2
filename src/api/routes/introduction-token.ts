import {
  type IntroductionRequest,
  IntroductionRequestSchema,
  type IntroductionToken,
  IntroductionTokenSchema,
  MadeIntroductionSchema,
  presentedIntroduction,
  ShownIntroductionSchema,
} from '../../model/introduction-token/introduction-token.ts';
import { namedAccess } from '../../model/permission/permission.ts';
import { Type } from '../../model/schema.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  introduce,
  requireIntroductionToken,
  revokeIntroduction,
} from '../../server/nodes/introductions.ts';
import { introductionTokens } from '../../state/tables.ts';
import { type Input, listRoute, type Route, readRoute, writeRoute } from '../route.ts';

const noun = 'introduction token';
const path = '/v1/node/introduction-token';
/** Whoever brings a node in can call it whatever a token's pattern allows. */
const on = (access: 'read' | 'write') => () => namedAccess('node', access, '', { extent: 'every' });

/** What brings nodes in. */
export const introductionTokenRoutes = (context: ServerContext): Route[] => [
  listRoute({
    ...{ method: 'GET', path: '/v1/node/introduction-tokens', noun },
    summary: 'List the tokens that bring nodes in',
    blocking: true,
    answer: ShownIntroductionSchema,
    filterSchema: IntroductionTokenSchema,
    permission: on('read'),
    rows: ({ snapshot }, { from, reverse }) =>
      snapshot.table(introductionTokens).scan({ ...(from && { from }), reverse }),
    keyOf: ({ ID }: IntroductionToken) => [ID],
    present: presentedIntroduction,
  }),
  ...(['PUT', 'POST'] as const).map((method) =>
    writeRoute({
      ...{ method, path, noun, answer: MadeIntroductionSchema },
      summary: 'Make a token that brings nodes in',
      body: { schema: IntroductionRequestSchema, unknown: 'refuse', optional: true },
      permission: on('write'),
      handle: async ({ body }: Input<Record<never, never>, IntroductionRequest>) => {
        const { index, value } = await introduce(context, body ?? {});
        return { index, value: presentedIntroduction(value) };
      },
    }),
  ),
  readRoute({
    ...{ method: 'GET', path: `${path}/:id`, noun },
    summary: 'Read a token that brings nodes in, without its secret',
    blocking: true,
    answer: ShownIntroductionSchema,
    permission: on('read'),
    handle: ({ parameters, snapshot }) =>
      presentedIntroduction(requireIntroductionToken(snapshot, parameters.id!)),
  }),
  writeRoute({
    ...{ method: 'DELETE', path: `${path}/:id`, noun },
    summary: 'Revoke a token that brings nodes in',
    answer: Type.Boolean(),
    permission: on('write'),
    handle: ({ parameters }) => revokeIntroduction(context, parameters.id!),
  }),
];
