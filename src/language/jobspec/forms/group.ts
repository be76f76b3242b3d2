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
    count: whole('Count', 'The number of allocations.'),
    task: list('Tasks', task, 'A task. The tasks of a group run on the same node.', {
      label: label('Name', 'The name of the task.'),
    }),
    network: list('Networks', network, 'The network and ports of an allocation.'),
    service: list('Services', service, 'A service that the group offers.'),
    volume: volumes.volume,
    ephemeral_disk: block('EphemeralDisk', ephemeralDisk, 'Disk that the tasks share.'),
    meta: textMap('Meta', 'Labels; tasks see them as `ROSTER_META_NAME`.'),
    update: block('Update', update, 'The rollout of a new version.'),
    migrate: block('Migrate', migrate, 'The moves of allocations by drains.'),
    restart: block('RestartPolicy', restart, 'The restarts of tasks that end or fail.'),
    reschedule: block('ReschedulePolicy', reschedule, 'The replacement of failed allocations.'),
    disconnect: block('Disconnect', disconnect, 'Rules for allocations of a disconnected node.'),
    scaling: block('Scaling', groupScaling, 'The bounds of the count.', {
      label: optionalLabel('label', 'A name; not looked at.'),
    }),
    ...constraints,
    ...affinities,
    ...spreads,
    shutdown_delay: duration(
      'ShutdownDelay',
      'The wait between the deregistration of its services and its stop.',
    ),
    max_run_duration: duration('MaxRunDuration', 'The time after which allocations are stopped.'),
    registry: block('Registry', registry, 'The registry of its services.'),
    secrets: block('Secrets', secrets, 'Default for its tasks.'),
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
    name: text('Name', 'The name, if it differs from the label.'),
  },
  {
    run: ({ Secrets, ...fields }) => ({ ...fields, ...handDown(Secrets, fields.Tasks) }),
    restates: { Secrets: ['Tasks'] },
  },
);
