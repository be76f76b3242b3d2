import { uiStreamPath } from '../model/ui-stream/messages.ts';
import { endpoints } from './endpoint.ts';
import { nothing } from './needs.ts';

export const uiStreamEndpoints = endpoints(
  { group: 'ui', noun: 'ui', family: 'scheduler' },
  {
    stream: {
      kind: 'socket',
      path: uiStreamPath,
      summary: 'Read, watch and write over one connection',
      // The token comes in the first message. Each request on the connection needs its own permission.
      permission: nothing,
    },
  },
);
