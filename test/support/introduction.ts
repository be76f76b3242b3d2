import type { World } from '../../src/base/ports.ts';
import { complete } from '../../src/model/complete.ts';
import { IntroductionTokenSchema } from '../../src/model/introduction-token/introduction-token.ts';
import { introductionTokens } from '../../src/state/tables.ts';
import type { State } from '../../src/state/types.ts';

export const introduction = '22222222-2222-4222-8222-222222222222';

/** Lets `introduction` admit any number of nodes. */
export async function letIn(state: State, world: Pick<World, 'secrets'>): Promise<void> {
  const SecretHash = world.secrets.hash(introduction);
  const token = complete(IntroductionTokenSchema, {
    ID: '33333333-3333-4333-8333-333333333333',
    Uses: 0,
  });
  if (state.read().table(introductionTokens).has(token.ID)) return;
  const ExpirationTime = Date.UTC(2100, 0, 1) * 1e6;
  await state.write((transaction) =>
    transaction.table(introductionTokens).put({ ...token, SecretHash, ExpirationTime }),
  );
}
