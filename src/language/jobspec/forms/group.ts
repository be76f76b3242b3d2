import {
  block,
  body,
  duration,
  type Fields,
  flag,
  label,
  list,
  optionalLabel,
  text,
  textMap,
  whole,
} from '../form.ts';
import { network, volumes } from './network.ts';
import { affinities, constraints, spreads } from './placement.ts';
import {
  disconnect,
  ephemeralDisk,
  groupScaling,
  migrate,
  reschedule,
  restart,
  update,
} from './policies.ts';
import { registry, secrets } from './secrets.ts';
import { service } from './service.ts';
import { task } from './task.ts';

/**
 * Gives the secrets of a group or job to its tasks without own secrets.
 * @returns the field of the tasks, if there are any
 */
export function handDown(secretsBlock: unknown, tasks: unknown): Fields {
  if (secretsBlock === undefined || tasks === undefined) return {};
  return {
    Tasks: (tasks as readonly Fields[]).map((one) => ({ Secrets: secretsBlock, ...one })),
  };
}

/** Source: docs/contract/jobs.md#a-task-group, docs/behaviour/job-specification.md#task-groups. */
export const group = body(
  {
    count: whole('Count', 'How many allocations.'),
    task: list('Tasks', task, 'A task; those of a group run on the same node.', {
      label: label('Name', 'The name of the task.'),
    }),
    network: list('Networks', network, 'The network and ports of an allocation.'),
    service: list('Services', service, 'A service that the group offers.'),
    volume: volumes.volume,
    ephemeral_disk: block('EphemeralDisk', ephemeralDisk, 'Disk that the tasks share.'),
    meta: textMap('Meta', 'Labels; tasks see them as `ROSTER_META_NAME`.'),
    update: block('Update', update, 'How a new version is rolled out.'),
    migrate: block('Migrate', migrate, 'How drains move allocations.'),
    restart: block('RestartPolicy', restart, 'What happens when a task ends or fails.'),
    reschedule: block('ReschedulePolicy', reschedule, 'When another node takes over.'),
    disconnect: block('Disconnect', disconnect, 'What happens while a node is away.'),
    scaling: block('Scaling', groupScaling, 'How the count may be changed.', {
      label: optionalLabel('label', 'A name; not looked at.'),
    }),
    ...constraints,
    ...affinities,
    ...spreads,
    shutdown_delay: duration(
      'ShutdownDelay',
      'Pause between taking its services out and stopping it.',
    ),
    max_run_duration: duration('MaxRunDuration', 'After this time allocations are ended.'),
    registry: block('Registry', registry, 'Where its services are kept.'),
    secrets: block('Secrets', secrets, 'For all its tasks that have none themselves.'),
    stop_after_client_disconnect: duration(
      'StopAfterClientDisconnect',
      'Deprecated, without effect: use `disconnect`.',
    ),
    max_client_disconnect: duration(
      'MaxClientDisconnect',
      'Deprecated, without effect: use `disconnect`.',
    ),
    prevent_reschedule_on_lost: flag(
      'PreventRescheduleOnLost',
      'Deprecated, without effect: use `disconnect`.',
    ),
    name: text('Name', 'Another name than the label.'),
  },
  {
    run: ({ Secrets, ...fields }) => ({ ...fields, ...handDown(Secrets, fields.Tasks) }),
    restates: { Secrets: ['Tasks'] },
  },
);
