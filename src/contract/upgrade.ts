import { HoldSchema, UpgradeSchema } from '../model/cluster-version/cluster-version.ts';
import { endpoints } from './endpoint.ts';
import { resource } from './needs.ts';

export const upgradeEndpoints = endpoints(
  { group: 'upgrade', noun: 'upgrade', family: 'scheduler' },
  {
    read: {
      kind: 'read',
      path: '/v1/operator/upgrade',
      summary:
        'Read in which form the servers write the state, and which servers hold up a newer one',
      answer: UpgradeSchema,
      permission: resource('operator', 'read'),
    },
    hold: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/operator/upgrade/hold',
      summary:
        'Forbid the servers to write a newer form, so that an older program can come back, or allow it',
      body: { schema: HoldSchema, unknown: 'refuse' },
      answer: UpgradeSchema,
      permission: resource('operator', 'write'),
    },
    finalize: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/operator/upgrade/finalize',
      summary: 'Write the newest form, without regard to servers that are not connected',
      answer: UpgradeSchema,
      permission: resource('operator', 'write'),
    },
  },
);
