import { expect, test } from 'vitest';
import { realWorld } from '../../base/ports-real.ts';
import { type AclPolicyInput, policyContent, policyHash } from '../../model/acl-policy/write.ts';
import { memoryState } from '../../state/state.test-helper.ts';
import { aclPolicies, allTables } from '../../state/tables.ts';
import type { ServerContext } from '../context.ts';
import { updatePolicy } from './policies.ts';

const scope = { namespace: 'default', partition: 'default' };

/** A body that counts how often its rules are taken. */
class CountedBody {
  readonly Name = 'web';
  taken = 0;

  get Rules(): string {
    this.taken++;
    return 'service "web" { policy = "write" }';
  }
}

const inputOf = (body: CountedBody): AclPolicyInput => {
  const input = { Name: body.Name };
  Object.defineProperty(input, 'Rules', { get: () => body.Rules, enumerable: true });
  return input as AclPolicyInput;
};

test('a change checks and reads the rules of a policy once', async () => {
  const state = await memoryState(allTables, realWorld);
  const ID = realWorld.ids.uuid();
  const content = policyContent({ Name: 'web' });
  await state.write((transaction) => {
    const row = { ID, ...content, Hash: policyHash(content) };
    transaction.table(aclPolicies).put({ ...row, Namespace: 'default', Partition: 'default' });
  });
  const checked = new CountedBody();
  policyContent(inputOf(checked));
  expect(checked.taken).toBeGreaterThan(0);
  const changed = new CountedBody();
  const context = { state, world: realWorld } as unknown as ServerContext;
  const { value } = await updatePolicy(context, scope, ID, inputOf(changed));
  expect(value.Rules).toBe('service "web" { policy = "write" }');
  expect(changed.taken).toBe(checked.taken);
});
