import {
  block,
  body,
  duration,
  flag,
  freeMap,
  list,
  text,
  textMap,
  texts,
  textsMap,
  whole,
} from '../form.ts';

const checkRestart = body({
  limit: whole('Limit', 'After how many failures in a row the task is restarted; 0: never.'),
  grace: duration('Grace', 'How long failures do not count after a start.'),
  ignore_warnings: flag('IgnoreWarnings', 'Warnings are no failures.'),
});

const check = body({
  name: text('Name', 'The name of the check.'),
  type: text('Type', '`http`, `tcp`, `script` or `grpc`.'),
  command: text('Command', 'What a script check runs.'),
  args: texts('Args', 'Its arguments.'),
  path: text('Path', 'The path that an http check asks for.'),
  protocol: text('Protocol', '`http` or `https`.'),
  method: text('Method', 'The HTTP method.'),
  header: textsMap('Header', 'HTTP headers, each with a list of values.'),
  body: text('Body', 'The body of the HTTP request.'),
  port: text('PortLabel', "Label of the port; the service's when not given."),
  address_mode: text('AddressMode', 'Which address is checked.'),
  advertise: text('Advertise', 'An address instead of it.'),
  interval: duration('Interval', 'Time between two checks; needed.'),
  timeout: duration('Timeout', 'How long one check may take; needed.'),
  initial_status: text('InitialStatus', 'What holds before the first check.'),
  on_update: text('OnUpdate', 'How the check counts while a deployment is under way.'),
  check_restart: block('CheckRestart', checkRestart, 'When failures restart the task.'),
  success_before_passing: whole('SuccessBeforePassing', 'Successes in a row before it passes.'),
  failures_before_critical: whole('FailuresBeforeCritical', 'Failures in a row before it fails.'),
  failures_before_warning: whole('FailuresBeforeWarning', 'Failures in a row before it warns.'),
  expose: flag('Expose', 'Let the check pass the proxy of a mesh.'),
  tls_server_name: text('TLSServerName', 'The name that the certificate has to be for.'),
  tls_skip_verify: flag('TLSSkipVerify', 'Do not verify the certificate.'),
  grpc_service: text('GRPCService', 'The service that a grpc check asks for.'),
  grpc_use_tls: flag('GRPCUseTLS', 'Speak TLS.'),
  notes: text('Notes', 'For people.'),
  task: text('TaskName', 'The task that a script runs in.'),
});

/** Source: docs/behaviour/job-specification.md#identities. */
const identityForms = {
  name: text('Name', 'The name; `default` is the one that every task has.'),
  aud: texts('Audience', 'Whom it is for.'),
  change_mode: text('ChangeMode', 'What happens to the task when it is renewed.'),
  change_signal: text('ChangeSignal', 'The signal of the change mode `signal`.'),
  env: flag('Env', 'Give it to the task as an environment variable.'),
  file: flag('File', 'Give it to the task as a file.'),
  filepath: text('Filepath', 'Where that file is.'),
  ttl: duration('TTL', 'How long it is valid.'),
  service_name: text('ServiceName', 'The service that it is for.'),
  extra_claims: textMap('ExtraClaims', 'More claims.'),
};
export const identity = body(identityForms);

const weights = body({
  passing: whole('Passing', 'While its checks pass.'),
  warning: whole('Warning', 'While one of its checks warns.'),
});

export const service = body({
  name: text('Name', 'Its name; made of job, group and task when not given.'),
  provider: text('Provider', 'Who keeps the registration.'),
  port: text('PortLabel', 'Label of the port.'),
  tags: texts('Tags', 'Tags of the registration.'),
  canary_tags: texts('CanaryTags', 'Tags instead of them while it is a canary.'),
  meta: textMap('Meta', 'Labels of the registration.'),
  canary_meta: textMap('CanaryMeta', 'Labels instead of them while it is a canary.'),
  tagged_addresses: textMap('TaggedAddresses', 'More addresses by their tag.'),
  address: text('Address', 'An address instead of that of the allocation.'),
  address_mode: text('AddressMode', 'Which address is registered.'),
  enable_tag_override: flag('EnableTagOverride', 'Others may change its tags.'),
  on_update: text('OnUpdate', 'How its checks count while a deployment is under way.'),
  task: text('TaskName', 'The task that it belongs to.'),
  kind: text('Kind', 'What kind of service it is.'),
  cluster: text('Cluster', 'The cluster of registries.'),
  check: list('Checks', check, 'Says whether the service is healthy.'),
  check_restart: block('CheckRestart', checkRestart, 'For all its checks.'),
  connect: freeMap('Connect', 'For a service mesh; there is none yet.'),
  weights: block('Weights', weights, 'Share of the requests.'),
  identity: block('Identity', identity, 'A workload identity of the service.'),
});
