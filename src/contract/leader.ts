import { Type } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { mayAnything } from './needs.ts';

const HandedOverSchema = Type.Object({
  Leader: Type.String({ description: 'Address of the new leader; empty if none leads yet.' }),
});

export const leaderEndpoints = endpoints(
  { group: 'leader', noun: 'leader', family: 'scheduler' },
  {
    stepDown: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/operator/leader/step-down',
      summary: 'Let another server lead',
      answer: HandedOverSchema,
      permission: mayAnything,
      endsTerm: true,
    },
  },
);
