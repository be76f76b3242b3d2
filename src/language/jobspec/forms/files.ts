import { block, body, duration, flag, text, textMap, texts, whole } from '../form.ts';

/** Source: docs/behaviour/job-specification.md#tasks. */
export const artifact = body({
  source: text('GetterSource', 'The URL of the artifact.'),
  destination: text('RelativeDest', 'The destination in the task’s directory.'),
  mode: text('GetterMode', 'Whether it is a file or a directory.'),
  options: textMap('GetterOptions', 'Options, such as `checksum`.'),
  headers: textMap('GetterHeaders', 'HTTP headers of the request.'),
  insecure: flag('GetterInsecure', 'Whether certificates are not verified.'),
  chown: flag('Chown', 'Whether the task’s user becomes its owner.'),
});

const changeScript = body({
  command: text('Command', 'The program.'),
  args: texts('Args', 'Its arguments.'),
  timeout: duration('Timeout', 'Timeout of the program.'),
  fail_on_error: flag('FailOnError', 'Whether a failure of the script fails the task.'),
  run_on_first_render: flag('RunOnFirstRender', 'Whether it also runs after the first rendering.'),
});

const wait = body({
  min: duration('Min', 'The shortest wait for further changes.'),
  max: duration('Max', 'The longest wait for further changes.'),
});

export const template = body({
  source: text('SourcePath', 'The file with the template.'),
  data: text('EmbeddedTmpl', 'The text of the template, in place of a file.'),
  destination: text('DestPath', 'The path of the result in the task’s directory.'),
  change_mode: text('ChangeMode', 'The action when the result changes.'),
  change_signal: text('ChangeSignal', 'The signal of the change mode `signal`.'),
  change_script: block('ChangeScript', changeScript, 'The script of the change mode `script`.'),
  splay: duration('Splay', 'The maximum of the random wait before the task is told.'),
  perms: text('Perms', 'Permissions of the result, octal.'),
  uid: whole('Uid', 'Owner of the result.'),
  gid: whole('Gid', 'Group of the result.'),
  left_delimiter: text('LeftDelim', 'The left delimiter of actions.'),
  right_delimiter: text('RightDelim', 'The right delimiter of actions.'),
  env: flag('Envvars', 'Whether the result sets environment variables of the task.'),
  error_on_missing_key: flag('ErrMissingKey', 'Whether a missing key is an error.'),
  once: flag('Once', 'Whether it is rendered only once.'),
  wait: block('Wait', wait, 'The wait for further changes.'),
});

export const logs = body({
  disabled: flag('Disabled', 'Whether no logs are kept.'),
  max_files: whole('MaxFiles', 'Number of files that are kept of each stream.'),
  max_file_size: whole('MaxFileSizeMB', 'Size of a file in MB.'),
});

export const volumeMount = body({
  volume: text('Volume', 'The name of the volume in the group.'),
  destination: text('Destination', 'The path of the mount.'),
  read_only: flag('ReadOnly', 'Whether it is read-only.'),
  propagation_mode: text('PropagationMode', 'How mounts below it are shared with the node.'),
  selinux_label: text('SELinuxLabel', 'The SELinux label.'),
});
