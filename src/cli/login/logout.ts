import type { ClientCommand } from '../definition.ts';

export const logout: ClientCommand = {
  words: ['logout'],
  summary: 'End the token of a login.',
  definition: {
    details: 'Deletes the token of ROSTER_TOKEN or --token, which has to come from a login.',
  },
  async run(context) {
    const { value } = await context.client.logins.logout();
    return context.show(value, () => context.screen.line('Logged out.'));
  },
};
