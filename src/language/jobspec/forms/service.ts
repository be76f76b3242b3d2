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
  limit: whole('Limit', 'Number of failures in a row that restart the task; 0: no restarts.'),
  grace: duration('Grace', 'The time after a start in which failures do not count.'),
  ignore_warnings: flag('IgnoreWarnings', 'Whether warnings do not count as failures.'),
});

const check = body({
  name: text('Name', 'The name of the check.'),
  type: text('Type', '`http`, `tcp`, `script` or `grpc`.'),
  command: text('Command', 'The program of a script check.'),
  args: texts('Args', 'Its arguments.'),
  path: text('Path', 'The path of an http check.'),
  protocol: text('Protocol', '`http` or `https`.'),
  method: text('Method', 'The HTTP method.'),
  header: textsMap('Header', 'HTTP headers, each with a list of values.'),
  body: text('Body', 'The body of the HTTP request.'),
  port: text('PortLabel', 'Label of the port; by default the service’s.'),
  address_mode: text('AddressMode', 'The kind of address that is checked.'),
  advertise: text('Advertise', 'An address in its place.'),
  interval: duration('Interval', 'Time between two checks; needed.'),
  timeout: duration('Timeout', 'Timeout of a check; needed.'),
  initial_status: text('InitialStatus', 'The status before the first check.'),
  on_update: text('OnUpdate', 'How the check counts during a deployment.'),
  check_restart: block('CheckRestart', checkRestart, 'The failures that restart the task.'),
  success_before_passing: whole(
    'SuccessBeforePassing',
    'Successes in a row before the check passes.',
  ),
  failures_before_critical: whole(
    'FailuresBeforeCritical',
    'Failures in a row before the check is critical.',
  ),
  failures_before_warning: whole(
    'FailuresBeforeWarning',
    'Failures in a row before the check warns.',
  ),
  expose: flag('Expose', 'Whether the proxy of a mesh lets the check through.'),
  tls_server_name: text('TLSServerName', 'The required name in the certificate.'),
  tls_skip_verify: flag('TLSSkipVerify', 'Whether the certificate is not verified.'),
  grpc_service: text('GRPCService', 'The service name in a grpc check.'),
  grpc_use_tls: flag('GRPCUseTLS', 'Whether the check uses TLS.'),
  notes: text('Notes', 'Notes for people.'),
  task: text('TaskName', 'The task in which a script check runs.'),
});

/** Source: docs/behaviour/job-specification.md#identities. */
const identityForms = {
  name: text('Name', 'The name; every task has the identity `default`.'),
  aud: texts('Audience', 'The audience of the token.'),
  change_mode: text('ChangeMode', 'The action when the token is renewed.'),
  change_signal: text('ChangeSignal', 'The signal of the change mode `signal`.'),
  env: flag('Env', 'Whether the token is in the environment.'),
  file: flag('File', 'Whether the token is written to a file.'),
  filepath: text('Filepath', 'The path of that file.'),
  ttl: duration('TTL', 'The lifetime of the token.'),
  service_name: text('ServiceName', 'The service of the identity.'),
  extra_claims: textMap('ExtraClaims', 'Further claims.'),
};
export const identity = body(identityForms);

const weights = body({
  passing: whole('Passing', 'The weight while its checks pass.'),
  warning: whole('Warning', 'The weight while a check warns.'),
});

export const service = body({
  name: text('Name', 'The name; by default made of job, group and task.'),
  provider: text('Provider', 'The registry of the service.'),
  port: text('PortLabel', 'Label of the port.'),
  tags: texts('Tags', 'Tags of the registration.'),
  canary_tags: texts('CanaryTags', 'Replaces `tags` while the allocation is a canary.'),
  meta: textMap('Meta', 'Labels of the registration.'),
  canary_meta: textMap('CanaryMeta', 'Replaces `meta` while the allocation is a canary.'),
  tagged_addresses: textMap('TaggedAddresses', 'Further addresses by tag.'),
  address: text('Address', 'An address in place of the allocation’s.'),
  address_mode: text('AddressMode', 'The kind of address that is registered.'),
  enable_tag_override: flag('EnableTagOverride', 'Whether others may change its tags.'),
  on_update: text('OnUpdate', 'How its checks count during a deployment.'),
  task: text('TaskName', 'The task of the service.'),
  kind: text('Kind', 'The kind of the service.'),
  cluster: text('Cluster', 'The cluster of registries.'),
  check: list('Checks', check, 'A check of the service’s health.'),
  check_restart: block('CheckRestart', checkRestart, 'Default for its checks.'),
  connect: freeMap('Connect', 'For a service mesh; there is none yet.'),
  weights: block('Weights', weights, 'Share of the requests.'),
  identity: block('Identity', identity, 'A workload identity of the service.'),
});
