import type { Context } from '../context.ts';
import { resolveId } from '../resolve-id.ts';

export const resolveToken = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'token',
      listedBy: 'roster acl token list',
      list: async (options) => {
        const answer = await client.acl.tokens.list(options);
        return { ...answer, value: answer.value.map((one) => ({ ...one, ID: one.AccessorID })) };
      },
      nameOf: ({ Description }) => Description,
    },
    given,
  );

export const resolvePolicy = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'policy',
      listedBy: 'roster acl policy list',
      list: (options) => client.acl.policies.list(options),
      nameOf: ({ Name }) => Name,
      isNamed: true,
    },
    given,
  );

export const resolveRole = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'role',
      listedBy: 'roster acl role list',
      list: (options) => client.acl.roles.list(options),
      nameOf: ({ Name }) => Name,
      isNamed: true,
    },
    given,
  );
