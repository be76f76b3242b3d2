import type { ClientCommand } from '../definition.ts';
import { oneLine } from '../render/text.ts';

export const agentInfo: ClientCommand = {
  words: ['agent-info'],
  summary: 'Show name, version, address and limits of the agent.',
  definition: { isPaged: true },
  async run({ client, screen, show }) {
    const { value } = await client.agent.self();
    return show(value, () => screen.fields(fieldsOf(value as object, '')));
  },
};

/** Nested fields by their path: `Limits.http.bodyBytesMax`. */
const fieldsOf = (value: object, above: string): (readonly [string, string])[] =>
  Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? fieldsOf(member, `${above}${name}.`)
      : [[`${above}${name}`, oneLine(String(member))] as const],
  );
