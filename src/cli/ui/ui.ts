import { addressesOf } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { oneLine } from '../render/text.ts';
import { signInAddress } from './sign-in-address.ts';

export const ui: ClientCommand = {
  words: ['ui'],
  summary: 'Open the web interface, signed in with the rights of your token.',
  definition: {
    options: [
      { name: 'print', description: 'Print the link without opening a browser.' },
      {
        name: 'loopback-only',
        description: 'Only a browser on the machine of the server may use the link.',
      },
    ],
    details: `The link works once, within 5 minutes. The browser gets a token of its own: it has the rights of your
token, expires after 8 hours, or with your token if that is sooner, and is deleted when you sign out.

Users of this machine can see the link in the list of processes while a browser is opened. With --print they
cannot.

Examples:
  roster ui
  roster ui --print`,
  },
  async run(context, _words, options) {
    const { client, environment, screen, notes } = context;
    const LoopbackOnly = options.flag('loopbackOnly');
    const { value } = await client.signInLinks.create({ LoopbackOnly });
    const [address = ''] = addressesOf(environment, options);
    const url = signInAddress(address, value.Secret);
    if (!options.flag('print')) environment.browser.open(url);
    return context.show({ URL: url, ...value }, async () => {
      await screen.line(url);
      await notes.line(`The link works once, until ${oneLine(value.ExpirationTime)}.`);
    });
  },
};
