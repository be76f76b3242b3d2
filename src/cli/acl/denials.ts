import type { ClientCommand } from '../definition.ts';
import { oneLine, orDash } from '../render/text.ts';
import { resolveToken } from './resolve.ts';

export const aclDenials: ClientCommand = {
  words: ['acl', 'denials'],
  summary: 'List requests that a server has refused, the newest first.',
  definition: {
    isPaged: true,
    options: [
      {
        name: 'accessor',
        value: 'TOKEN',
        completes: 'token',
        description: 'Only of this token: its accessor, or 8 or more characters of it.',
      },
      {
        name: 'server-id',
        value: 'SERVER',
        completes: 'server',
        description: 'The server that is asked: its id, its address, or "leader".',
      },
    ],
    details: `Each server remembers the newest requests that it refused, in its memory. Reads are refused by the
server that is asked, writes by the leader. You see your own, and with acl:read those of others.
"roster acl why TOKEN PERMISSION NAME" explains why a permission is lacking.`,
  },
  async run(context, _words, options) {
    const { client, screen } = context;
    const given = options.text('accessor');
    const accessor = given && (await resolveToken(context, given));
    const serverId = options.text('serverId');
    const { value } = await client.aclDecisions.denials({ accessor, serverId });
    return context.show(value, async () => {
      if (value.length === 0) return screen.line('No refused requests are known.');
      const rows = value.map(({ Time, AccessorID, Caller, Method, Path, Code, Permission }) => [
        Time,
        AccessorID === '' ? oneLine(Caller) : context.id(AccessorID),
        `${oneLine(Method)} ${oneLine(Path)}`,
        Code,
        orDash(oneLine(Permission)),
      ]);
      await screen.table(['Time', 'Caller', 'Request', 'Code', 'Lacks'], rows);
    });
  },
};
