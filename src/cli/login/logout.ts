import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';

export const logout: ClientCommand = {
  words: ['logout'],
  summary: 'End the token of a login.',
  definition: {
    details: 'Deletes the token of ROSTER_TOKEN or --token, which has to come from a login.',
  },
  async run(context) {
    const { value } = await context.client.logins.logout();
    if (context.isJson) await context.json(value);
    else await context.screen.line('Logged out.');
    return exitCodes.ok;
  },
};
