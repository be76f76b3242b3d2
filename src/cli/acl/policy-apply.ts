import { isMissing } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand } from '../definition.ts';
import { policies, policyFields, rulesOption } from './policy.ts';

/** Like `create` and `update`, for scripts that do not know whether the policy exists. */
export const policyApply: ClientCommand = {
  words: ['acl', 'policy', 'apply'],
  summary: 'Create a policy, or change it.',
  definition: {
    arguments: [
      argument('NAME', 'Its name.', 'policy'),
      { ...argument('FILE', rulesOption.description, 'file'), flags: [rulesOption.name] },
    ],
    options: policyFields,
    details: `Example:
  roster acl policy apply -description 'deploys' deploy deploy.hcl`,
  },
  async run(context, [name, file], options) {
    const verb = (await isThere(context, name!)) ? policies.update! : policies.create!;
    return verb.run(context, [name!], {
      ...options,
      text: (option) => (option === rulesOption.name ? file : options.text(option)),
    });
  },
};

async function isThere({ client }: Context, name: string): Promise<boolean> {
  try {
    await client.acl.policies.readNamed(name);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
