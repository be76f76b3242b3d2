import {
  block,
  body,
  duration,
  type Fields,
  flag,
  freeMap,
  label,
  list,
  text,
  textMap,
  texts,
  whole,
} from '../form.ts';
import { artifact, logs, template, volumeMount } from './files.ts';
import { network } from './network.ts';
import { affinities, constraints } from './placement.ts';
import { restart, taskScaling } from './policies.ts';
import { registry, secretFetch, secrets } from './secrets.ts';
import { identity, service } from './service.ts';

const device = body({
  count: whole('Count', 'The number of instances.'),
  ...constraints,
  ...affinities,
});

const numa = body({
  affinity: text('Affinity', 'Whether its cores should be of one NUMA node.'),
  devices: texts('Devices', 'Devices that should be near them.'),
});

/** Source: docs/behaviour/job-specification.md#resources. */
const resources = body({
  cpu: whole('CPU', 'MHz.'),
  cores: whole('Cores', 'Whole cores, instead of `cpu`.'),
  memory: whole('MemoryMB', 'MB.'),
  memory_max: whole(
    'MemoryMaxMB',
    'Maximum memory in MB, if the node has memory left; -1: no limit.',
  ),
  disk: whole('DiskMB', 'Must be 0: tasks use the group’s `ephemeral_disk`.'),
  iops: whole('IOPS', 'Deprecated, without effect.'),
  secrets: whole('SecretsMB', 'MB of the directory for secrets.'),
  device: list('Devices', device, 'Devices that the task needs.', {
    label: label('Name', '`TYPE`, `VENDOR/TYPE` or `VENDOR/TYPE/NAME`.'),
  }),
  network: list('Networks', network, 'Deprecated: use the network of the group.'),
  numa: block('NUMA', numa, 'The NUMA nodes of its cores.'),
});

const lifecycle = body({
  hook: text('Hook', 'When the task runs.'),
  sidecar: flag('Sidecar', 'Whether it runs beside the main tasks.'),
});

const action = body({
  command: text('Command', 'The program that is run in the task.'),
  args: texts('Args', 'Its arguments.'),
});

const storagePlugin = body({
  id: text('ID', 'The id of the plugin.'),
  type: text('Type', 'The part of the plugin that the task runs.'),
  mount_dir: text('MountDir', 'The directory of its socket.'),
  stage_publish_base_dir: text('StagePublishBaseDir', 'The directory in which volumes are staged.'),
  health_timeout: duration('HealthTimeout', 'The time in which it has to become healthy.'),
});

const cron = body({
  start: text('Start', 'The cron expression of the start.'),
  end: text('End', 'The cron expression of the end.'),
  timezone: text('Timezone', 'The time zone of both expressions.'),
});

const schedule = body({ cron: block('Cron', cron, 'The times.') });

/** The identity without a name, or with the name `default`, is the identity that every task has. */
function splitIdentities({ AllIdentities, ...fields }: Fields): Fields {
  if (AllIdentities === undefined) return fields;
  const all = AllIdentities as readonly Fields[];
  const isDefault = ({ Name = 'default' }: Fields) => Name === '' || Name === 'default';
  const own = all.find(isDefault);
  const others = all.filter((one) => one !== own);
  return {
    ...fields,
    ...(own && { Identity: own }),
    ...(others.length > 0 && { Identities: others }),
  };
}

/** Source: docs/contract/jobs.md#a-task, docs/behaviour/job-specification.md#tasks. */
export const task = body(
  {
    driver: text('Driver', 'The driver that runs the task.'),
    config: freeMap(
      'Config',
      'The settings of the driver: `raw_exec` and `exec` take `command` and `args`.',
    ),
    env: textMap('Env', 'Environment variables.'),
    user: text('User', 'The user of the task.'),
    meta: textMap('Meta', 'Labels; the task sees them as `ROSTER_META_NAME`.'),
    resources: block('Resources', resources, 'The resources that the task needs.'),
    lifecycle: block('Lifecycle', lifecycle, 'When the task runs, if it is not a main task.'),
    leader: flag('Leader', 'Whether its end ends the other tasks of the group.'),
    kill_signal: text('KillSignal', 'The signal that asks the task to end.'),
    kill_timeout: duration('KillTimeout', 'The time in which the task has to end.'),
    shutdown_delay: duration('ShutdownDelay', 'The wait before the task is asked to end.'),
    kind: text('Kind', 'Marks the proxy of a service mesh, `KIND:SERVICE`; there is none yet.'),
    logs: block('LogConfig', logs, 'The logs of its output.'),
    restart: block('RestartPolicy', restart, 'The restarts of the task.'),
    service: list('Services', service, 'A service of the task.'),
    artifact: list('Artifacts', artifact, 'A file that is fetched before the task starts.'),
    template: list('Templates', template, 'A file that is rendered for the task.'),
    action: list('Actions', action, 'A command that may be run in the task.', {
      label: label('Name', 'The name of the action.'),
    }),
    volume_mount: list('VolumeMounts', volumeMount, 'A mount of a volume of the group.'),
    dispatch_payload: block(
      'DispatchPayload',
      body({ file: text('File', 'The file, in `local/`.') }),
      'The file for the payload of a dispatch.',
    ),
    identity: list('AllIdentities', identity, 'A workload identity.'),
    secrets: block('Secrets', secrets, 'A token for secrets; also possible in group and job.'),
    secret: list('SecretFetches', secretFetch, 'A secret; nothing fetches it yet.', {
      label: label('Name', 'The name of the secret.'),
    }),
    registry: block('Registry', registry, 'The registry of its services.'),
    scaling: list(
      'ScalingPolicies',
      taskScaling,
      'The bounds of its resources for an autoscaler.',
      {
        label: label('label', '`cpu` or `mem`.'),
      },
    ),
    csi_plugin: block(
      'CSIPluginConfig',
      storagePlugin,
      'Settings of a storage plugin; no node takes one yet.',
    ),
    schedule: block('Schedule', schedule, 'The times at which the task runs; without effect.'),
    ...constraints,
    ...affinities,
  },
  { run: splitIdentities, restates: { AllIdentities: ['Identity', 'Identities'] } },
);
