import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
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

/** Says that it is gone. @throws CliError when there was none */
export async function deleted(
  { screen, isJson, json }: Context,
  noun: string,
  id: string,
  wasThere: boolean,
): Promise<void> {
  if (isJson) await json(wasThere);
  else if (wasThere) await screen.line(`The ${noun} ${id} is deleted.`);
  if (!wasThere) throw new CliError(`There is no ${noun} ${id}.`);
}
