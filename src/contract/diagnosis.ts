import { limits } from '../model/limits.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { resource } from './needs.ts';
import { flag, type QueryTable, text } from './query.ts';

const ofNode = {
  node_id: text('The node whose agent answers, instead of a server.'),
} as const satisfies QueryTable;

const profile = {
  kind: 'stream',
  isOfServer: true,
  query: {
    seconds: {
      kind: 'integer',
      default: 1,
      minimum: 1,
      maximum: limits.profile.secondsMax,
      description: 'How long it is taken.',
    },
    thread: {
      kind: 'string',
      default: 'main',
      description: 'The thread of the agent: `main`, or a reader such as `reader-1`.',
    },
    ...ofNode,
  },
  answer: typed<object>(Type.Object({})),
  permission: resource('agent', 'write'),
} as const;

export const diagnosisEndpoints = endpoints(
  { group: 'diagnosis', noun: 'agent', family: 'scheduler' },
  {
    monitor: {
      kind: 'stream',
      path: '/v1/agent/monitor',
      isOfServer: true,
      summary: 'Follow the log of an agent',
      query: {
        log_level: {
          kind: 'string',
          default: 'info',
          description:
            'The least level of the lines: `trace`, `debug`, `info`, `warn` or `error`, whatever the agent itself writes.',
        },
        log_json: flag('Lines in JSON instead of text.'),
        plain: flag('The lines alone, without frames.'),
        ...ofNode,
      },
      permission: resource('agent', 'read'),
    },
    cpuProfile: {
      ...profile,
      path: '/v1/agent/pprof/profile',
      summary: 'Take a CPU profile of an agent (.cpuprofile)',
    },
    heapProfile: {
      ...profile,
      path: '/v1/agent/pprof/heap',
      summary: 'Take a sampling heap profile of an agent (.heapprofile)',
    },
  },
);
