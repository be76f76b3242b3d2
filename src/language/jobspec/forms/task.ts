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
  count: whole('Count', 'How many.'),
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
  memory_max: whole('MemoryMaxMB', 'MB that it may take while there is room; -1: no limit.'),
  disk: whole('DiskMB', "Has to be 0: the group's `ephemeral_disk` says it."),
  iops: whole('IOPS', 'Deprecated, without effect.'),
  secrets: whole('SecretsMB', 'MB of the directory for secrets.'),
  device: list('Devices', device, 'Devices that the task needs.', {
    label: label('Name', '`TYPE`, `VENDOR/TYPE` or `VENDOR/TYPE/NAME`.'),
  }),
  network: list('Networks', network, 'Deprecated: use the network of the group.'),
  numa: block('NUMA', numa, 'Where its cores are.'),
});

const lifecycle = body({
  hook: text('Hook', 'When it runs.'),
  sidecar: flag('Sidecar', 'It goes on beside the main tasks.'),
});

const action = body({
  command: text('Command', 'What is run inside of the task.'),
  args: texts('Args', 'Its arguments.'),
});

const storagePlugin = body({
  id: text('ID', 'The id of the plugin.'),
  type: text('Type', 'What it serves as.'),
  mount_dir: text('MountDir', 'Where its socket is.'),
  stage_publish_base_dir: text('StagePublishBaseDir', 'Where volumes are staged.'),
  health_timeout: duration('HealthTimeout', 'How long it may take to become healthy.'),
});

const cron = body({
  start: text('Start', 'When it starts.'),
  end: text('End', 'When it ends.'),
  timezone: text('Timezone', 'The time zone of both.'),
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
    driver: text('Driver', 'What runs the task.'),
    config: freeMap('Config', 'For the driver: `raw_exec` and `exec` take `command` and `args`.'),
    env: textMap('Env', 'Environment variables.'),
    user: text('User', 'The user that it runs as.'),
    meta: textMap('Meta', 'Labels; the task sees them as `ROSTER_META_NAME`.'),
    resources: block('Resources', resources, 'What it needs of a node.'),
    lifecycle: block('Lifecycle', lifecycle, 'When it runs, where it is no main task.'),
    leader: flag('Leader', 'When it ends, the other tasks of the group are ended.'),
    kill_signal: text('KillSignal', 'The signal that asks it to end.'),
    kill_timeout: duration('KillTimeout', 'How long it may take to end.'),
    shutdown_delay: duration('ShutdownDelay', 'Pause before it is asked to end.'),
    kind: text('Kind', 'Marks the proxy of a service mesh, `KIND:SERVICE`; there is none yet.'),
    logs: block('LogConfig', logs, 'How much of its output is kept.'),
    restart: block('RestartPolicy', restart, 'What happens when it ends or fails.'),
    service: list('Services', service, 'A service that it offers.'),
    artifact: list('Artifacts', artifact, 'What is fetched before it starts.'),
    template: list('Templates', template, 'A file that is rendered for it.'),
    action: list('Actions', action, 'A command that may be run inside of it.', {
      label: label('Name', 'The name of the action.'),
    }),
    volume_mount: list('VolumeMounts', volumeMount, 'Where a volume of the group is seen.'),
    dispatch_payload: block(
      'DispatchPayload',
      body({ file: text('File', 'The file, in `local/`.') }),
      'Where the payload of a dispatch goes.',
    ),
    identity: list('AllIdentities', identity, 'A workload identity.'),
    secrets: block('Secrets', secrets, 'A token for secrets; also possible in group and job.'),
    secret: list('SecretFetches', secretFetch, 'A secret; nothing fetches it yet.', {
      label: label('Name', 'The name of the secret.'),
    }),
    registry: block('Registry', registry, 'Where its services are kept.'),
    scaling: list('ScalingPolicies', taskScaling, 'How an autoscaler may change its resources.', {
      label: label('label', '`cpu` or `mem`.'),
    }),
    csi_plugin: block(
      'CSIPluginConfig',
      storagePlugin,
      'It is a storage plugin; no node takes one yet.',
    ),
    schedule: block('Schedule', schedule, 'At what times it runs; without effect yet.'),
    ...constraints,
    ...affinities,
  },
  { run: splitIdentities, restates: { AllIdentities: ['Identity', 'Identities'] } },
);
