import type { ClientCommand } from '../definition.ts';
import { argument } from './links.ts';
import { showNewToken, tokenSink } from './show.ts';

export const aclBootstrap: ClientCommand = {
  definition: {
    arguments: [
      argument('SECRET', 'A UUID to be its secret; one is made without it.', 'word', false),
    ],
    options: [tokenSink],
    details: `The first token may do everything. It is made once; keep its secret. Where it is lost, the
error of a second try names the index to write into DATA_DIR/acl-bootstrap-reset.`,
  },
  async run(context, [secret], options) {
    const { value } = await context.client.acl.bootstrap(secret);
    return showNewToken(context, value, options);
  },
};
