import { block, body, duration, flag, text, textMap, texts, whole } from '../form.ts';

/** Source: docs/behaviour/job-specification.md#tasks. */
export const artifact = body({
  source: text('GetterSource', 'Where it is fetched from.'),
  destination: text('RelativeDest', "Where it goes, in the task's directory."),
  mode: text('GetterMode', 'Whether it is a file or a directory.'),
  options: textMap('GetterOptions', 'Options, such as `checksum`.'),
  headers: textMap('GetterHeaders', 'HTTP headers of the request.'),
  insecure: flag('GetterInsecure', 'Do not verify certificates.'),
  chown: flag('Chown', 'Give it to the user of the task.'),
});

const changeScript = body({
  command: text('Command', 'What is run.'),
  args: texts('Args', 'Its arguments.'),
  timeout: duration('Timeout', 'How long it may take.'),
  fail_on_error: flag('FailOnError', 'The task fails when the script does.'),
  run_on_first_render: flag('RunOnFirstRender', 'Run it after the first rendering too.'),
});

const wait = body({
  min: duration('Min', 'The shortest wait for more changes.'),
  max: duration('Max', 'The longest wait for more changes.'),
});

export const template = body({
  source: text('SourcePath', 'The file with the template.'),
  data: text('EmbeddedTmpl', 'The template itself, instead of a file.'),
  destination: text('DestPath', "Where the result goes, in the task's directory."),
  change_mode: text('ChangeMode', 'What happens to the task when the result changes.'),
  change_signal: text('ChangeSignal', 'The signal of the change mode `signal`.'),
  change_script: block('ChangeScript', changeScript, 'The script of the change mode `script`.'),
  splay: duration('Splay', 'Up to this long is waited at random before the change.'),
  perms: text('Perms', 'Permissions of the result, octal.'),
  uid: whole('Uid', 'Owner of the result.'),
  gid: whole('Gid', 'Group of the result.'),
  left_delimiter: text('LeftDelim', 'What opens an action.'),
  right_delimiter: text('RightDelim', 'What closes an action.'),
  env: flag('Envvars', 'The result is environment variables of the task.'),
  error_on_missing_key: flag('ErrMissingKey', 'A missing key is an error.'),
  once: flag('Once', 'Render it once and never again.'),
  wait: block('Wait', wait, 'How long is waited for more changes.'),
});

export const logs = body({
  disabled: flag('Disabled', 'Keep no logs.'),
  max_files: whole('MaxFiles', 'How many files of each stream are kept.'),
  max_file_size: whole('MaxFileSizeMB', 'Size of a file in MB.'),
});

export const volumeMount = body({
  volume: text('Volume', 'The name of the volume in the group.'),
  destination: text('Destination', 'Where it is mounted.'),
  read_only: flag('ReadOnly', 'It is only read.'),
  propagation_mode: text('PropagationMode', 'Which mounts are seen on the other side.'),
  selinux_label: text('SELinuxLabel', 'The SELinux label.'),
});
