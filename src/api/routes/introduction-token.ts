import { introductionTokenEndpoints as contract } from '../../contract/introduction-token.ts';
import {
  type IntroductionToken,
  presentedIntroduction,
} from '../../model/introduction-token/introduction-token.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  introduce,
  requireIntroductionToken,
  revokeIntroduction,
} from '../../server/nodes/introductions.ts';
import { introductionTokens } from '../../state/tables.ts';
import type { Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';

export const introductionTokenRoutes = (context: ServerContext): Route[] => [
  ...serveList(contract.list, {
    rows: ({ snapshot }, { from, reverse }) =>
      snapshot.table(introductionTokens).scan({ ...(from && { from }), reverse }),
    keyOf: ({ ID }: IntroductionToken) => [ID],
    present: presentedIntroduction,
  }),
  ...serveWrite(contract.create, async ({ body }) => {
    const { index, value } = await introduce(context, body ?? {});
    return { index, value: presentedIntroduction(value) };
  }),
  ...serveRead(contract.read, ({ parameters, snapshot }) =>
    presentedIntroduction(requireIntroductionToken(snapshot, parameters.id!)),
  ),
  ...serveWrite(contract.revoke, ({ parameters }) => revokeIntroduction(context, parameters.id!)),
];
