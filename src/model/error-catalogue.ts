/**
 * Every refusal: code, HTTP status, title, and a sentence with `{parameters}`. Only this catalogue decides
 * the status of an error (docs/contract/http.md#refusals).
 */
interface Entry {
  readonly status: number;
  readonly title: string;
  readonly sentence: string;
}

export const catalogue = {
  // 400: the request is wrong in any state.
  'malformed-request': { status: 400, title: 'Malformed request', sentence: '{reason}' },
  'malformed-json': {
    status: 400,
    title: 'Malformed JSON',
    sentence: 'The body is not valid JSON: {reason}.',
  },
  'json-too-deep': {
    status: 400,
    title: 'JSON nested too deeply',
    sentence: 'The body is nested more than {limit} levels deep.',
  },
  'body-required': {
    status: 400,
    title: 'Body required',
    sentence: 'This request needs a JSON body, and it has none.',
  },
  'invalid-body': {
    status: 400,
    title: 'Invalid body',
    sentence: 'The body has {faults}',
  },
  'invalid-job': {
    status: 400,
    title: 'Invalid job',
    sentence: 'The job has {faults}',
  },
  'invalid-job-file': {
    status: 400,
    title: 'Invalid job file',
    sentence: 'The job file has {faults}',
  },
  'invalid-query': {
    status: 400,
    title: 'Invalid query parameter',
    sentence: 'The query parameter "{parameter}" {reason}.',
  },
  'too-many-to-sort': {
    status: 400,
    title: 'Too many to sort',
    sentence:
      'The list has more than {limit} rows, which is too many to sort. Choose fewer with a namespace or a prefix, or leave out "sort".',
  },
  'invalid-path': { status: 400, title: 'Invalid path', sentence: 'The path {reason}.' },
  'invalid-filter': {
    status: 400,
    title: 'Invalid filter',
    sentence: 'The filter is wrong at position {position}: {reason}.',
  },
  'job-id-mismatch': {
    status: 400,
    title: 'Job id mismatch',
    sentence: 'The body names the job "{body}" and the path names "{path}".',
  },
  'job-change-refused': {
    status: 400,
    title: 'Change of job refused',
    sentence:
      'This change of the job "{job}" is not possible: {reason}. Register it under another id.',
  },
  'job-policy-violated': {
    status: 400,
    title: 'Job policy violated',
    sentence: 'The job "{job}" violates {count}: {verdicts}.{way}',
  },
  'job-not-allowed': {
    status: 400,
    title: 'Not allowed in the namespace',
    sentence: 'The job is not allowed in its namespace: it has {faults}',
  },
  'dispatch-refused': {
    status: 400,
    title: 'Job cannot be dispatched',
    sentence: 'The job "{job}" cannot be dispatched: {reason}.',
  },
  'launch-refused': {
    status: 400,
    title: 'Job cannot be launched',
    sentence: 'The job "{job}" cannot be launched: {reason}.',
  },
  'version-is-current': {
    status: 400,
    title: 'Version is current',
    sentence: 'The job "{job}" is at version {version} already.',
  },
  'job-not-evaluated': {
    status: 400,
    title: 'Job not evaluated',
    sentence: 'The job "{job}" is {kind}: only the jobs that it launches are evaluated.',
  },
  'deployment-active': {
    status: 400,
    title: 'Deployment active',
    sentence: 'The job "{job}" cannot be scaled while its deployment {deployment} is active.',
  },
  'deployment-refused': {
    status: 400,
    title: 'Not possible for this deployment',
    sentence: 'The deployment {deployment} cannot be {action}: {reason}.',
  },
  'ambiguous-id': {
    status: 400,
    title: 'Ambiguous id',
    sentence: 'The prefix "{prefix}" fits {count} {noun}s: give more of it.',
  },
  'not-running': {
    status: 400,
    title: 'Not running',
    sentence: 'The {noun} "{id}" is not running.',
  },
  'file-unfit': {
    status: 400,
    title: 'Unsuitable file',
    sentence: 'The file "{path}" of the allocation {allocation} cannot be read: {reason}.',
  },
  'not-over': {
    status: 400,
    title: 'Still running',
    sentence: 'The allocation "{id}" has not ended, so it cannot be collected.',
  },
  'snapshot-damaged': {
    status: 400,
    title: 'Snapshot damaged',
    sentence: 'The snapshot cannot be used: {reason}.',
  },
  'snapshot-too-new': {
    status: 400,
    title: 'Snapshot of a later version',
    sentence: 'The snapshot was saved by a later version of the program: {reason}.',
  },
  'other-cluster-named': {
    status: 400,
    title: 'Another cluster',
    sentence:
      'The cluster to replace is named "{force}", and the id of this cluster is "{cluster}".',
  },
  'snapshot-of-another-root-key': {
    status: 400,
    title: 'Snapshot of another root key',
    sentence:
      'The root key of this server does not open the keyring of the snapshot. Start the server with the root key of the cluster that saved it (keyring.root_key_file, or the file "root-key" of its data directory), and restore again.',
  },
  'action-not-found': {
    status: 400,
    title: 'Action not found',
    sentence: 'The task "{task}" of the allocation {allocation} has no action "{action}".',
  },
  'allocation-of-another-job': {
    status: 400,
    title: 'Allocation of another job',
    sentence: 'The allocation {allocation} is not an allocation of the job "{job}".',
  },
  'config-kind-unknown': {
    status: 400,
    title: 'No such kind of configuration entry',
    sentence: 'There is no kind of configuration entry "{kind}". The kinds are {kinds}.',
  },
  'id-mismatch': {
    status: 400,
    title: 'Id mismatch',
    sentence: 'The body names the {noun} "{body}", and the path names "{path}".',
  },
  'immutable-field': {
    status: 400,
    title: 'Field cannot change',
    sentence: '{field} of the {noun} cannot be changed.',
  },
  'builtin-protected': {
    status: 400,
    title: 'Builtin',
    sentence: 'The {noun} "{name}" is builtin: {reason}.',
  },
  'own-token': {
    status: 400,
    title: 'Own token',
    sentence: 'A token cannot delete itself. Use another token, or log out if a login made it.',
  },
  'login-token-clone': {
    status: 400,
    title: 'Token of a login',
    sentence: 'A token that a login made cannot be cloned.',
  },
  'bootstrap-reset-wrong': {
    status: 400,
    title: 'Wrong reset index',
    sentence:
      'The file acl-bootstrap-reset in the data directory must hold the reset index {index}, and holds something else.',
  },

  // 401 and 403: the caller lacks an identity or a right.
  'acl-disabled': {
    status: 401,
    title: 'Access control disabled',
    sentence: 'Access control is switched off on this server, so it has no tokens and policies.',
  },
  'config-entry-derived': {
    status: 403,
    title: 'Only the server writes it',
    sentence:
      'Permission denied: entries of the kind {kind} are only written by the server itself.',
  },
  'permission-denied': {
    status: 403,
    title: 'Permission denied',
    sentence: 'Permission denied: {caller} lacks the permission {permission}.',
  },
  'token-not-found': {
    status: 403,
    title: 'Token not found',
    sentence: 'The token is unknown here or has expired.',
  },
  'remote-exec-disabled': {
    status: 403,
    title: 'Remote exec disabled',
    sentence: 'The operator of the node {node} has disabled commands in its tasks.',
  },
  'job-token-not-found': {
    status: 403,
    title: 'Token of the job not found',
    sentence: 'The {field} of the job is unknown here or has expired.',
  },
  'peering-token-refused': {
    status: 403,
    title: 'Peering token refused',
    sentence:
      'The other cluster refuses the token (it was used already, replaced by a newer token, its peering was deleted, or another cluster answers at the address in it), so a new peering token must be generated: invalid peering establishment secret.',
  },
  'file-refused': {
    status: 403,
    title: 'File refused',
    sentence: 'The file "{path}" of the allocation {allocation} is not shown: {reason}.',
  },
  'introduction-refused': {
    status: 403,
    title: 'Introduction refused',
    sentence: 'The introduction token "{id}" does not admit this node: {reason}.',
  },
  'upgrade-alone': {
    status: 409,
    title: 'Not several servers',
    sentence: 'This server holds its state alone, and writes its newest form at once.',
  },
  'upgrade-blocked': {
    status: 409,
    title: 'Upgrade blocked',
    sentence:
      'The server {server} of version {version} is connected and does not read these tables: {tables}. Upgrade it first.',
  },
  'state-not-empty': {
    status: 409,
    title: 'State not empty',
    sentence:
      'This cluster is not empty: it has {contents}. A restore replaces all of it. To do so, name the cluster: force={cluster}.',
  },
  'restore-under-way': {
    status: 409,
    title: 'Restore under way',
    sentence: 'This server restores a snapshot already.',
  },
  'node-name-taken': {
    status: 409,
    title: 'Node name taken',
    sentence:
      'A node called "{name}" is alive already: "{node}" ({status}). Give this node another name, or wait until the other node is down or purged.',
  },
  'introduction-token-not-found': {
    status: 404,
    title: 'Introduction token not found',
    sentence: 'There is no introduction token "{id}".',
  },
  'node-secret-mismatch': {
    status: 403,
    title: 'Node secret mismatch',
    sentence: 'The secret is not the one that the node "{node}" registered with.',
  },
  'login-refused': {
    status: 403,
    title: 'Login refused',
    sentence: 'The auth method "{method}" refuses the login: {reason}.',
  },
  'not-logged-in': {
    status: 401,
    title: 'Not logged in',
    sentence: 'The supplied token does not exist: only the token of a login can be logged out.',
  },
  'token-not-from-login': {
    status: 403,
    title: 'Token not from a login',
    sentence: "Permission denied: the token wasn't created via login, so it cannot be logged out.",
  },
  'sign-in-link-refused': {
    status: 403,
    title: 'Sign-in link refused',
    sentence: 'The sign-in link is refused: {reason}.',
  },
  'token-needed': {
    status: 403,
    title: 'Token needed',
    sentence: 'Only the holder of a token can {act}.',
  },
  'bootstrap-done': {
    status: 403,
    title: 'Bootstrap done',
    sentence:
      'The first token was already made (reset index: {index}). To make another, write that index into the file acl-bootstrap-reset in the data directory and try again.',
  },

  // 404: the named record does not exist.
  'route-not-found': {
    status: 404,
    title: 'No such path',
    sentence: 'There is no "{path}" here; /v1/openapi.json lists every path.',
  },
  'job-not-found': {
    status: 404,
    title: 'Job not found',
    sentence: 'There is no job "{job}" in the namespace "{namespace}".',
  },
  'plan-not-found': {
    status: 404,
    title: 'Plan not found',
    sentence:
      'The job "{job}" has no plan "{plan}" to carry out: a plan is kept for {minutes} minutes, and can be carried out once.{fate}',
  },
  'plan-gone': {
    status: 404,
    title: 'Plan not found',
    sentence: 'There is no plan "{plan}": a plan is kept for {minutes} minutes.',
  },
  'job-version-not-found': {
    status: 404,
    title: 'Job version not found',
    sentence: 'The job "{job}" has no version {version}; only the newest are kept.',
  },
  'job-policy-not-found': {
    status: 404,
    title: 'Job policy not found',
    sentence: 'There is no job policy "{name}".',
  },
  'scaling-policy-not-found': {
    status: 404,
    title: 'Scaling policy not found',
    sentence: 'There is no scaling policy "{id}".',
  },
  'version-tag-not-found': {
    status: 404,
    title: 'Version tag not found',
    sentence: 'The job "{job}" has no version with the tag "{tag}".',
  },
  'submission-not-found': {
    status: 404,
    title: 'Submission not found',
    sentence: 'No source was kept for version {version} of the job "{job}".',
  },
  'group-not-found': {
    status: 404,
    title: 'Group not found',
    sentence: 'The job "{job}" has no group "{group}".',
  },
  'task-not-found': {
    status: 404,
    title: 'Task not found',
    sentence: 'The allocation {allocation} has no task "{task}".',
  },
  'allocation-not-found': {
    status: 404,
    title: 'Allocation not found',
    sentence: 'There is no allocation "{id}".',
  },
  'service-not-found': {
    status: 404,
    title: 'Service not found',
    sentence:
      'There is no instance "{id}" of the service "{service}" in the namespace "{namespace}".',
  },
  'evaluation-not-found': {
    status: 404,
    title: 'Evaluation not found',
    sentence: 'There is no evaluation "{id}".',
  },
  'deployment-not-found': {
    status: 404,
    title: 'Deployment not found',
    sentence: 'There is no deployment "{id}".',
  },
  'server-not-found': {
    status: 404,
    title: 'Server not found',
    sentence: 'This server knows no server "{id}". GET /v1/servers lists them.',
  },
  'node-not-found': {
    status: 404,
    title: 'Node not found',
    sentence: 'There is no node "{id}".',
  },
  'node-not-registered': {
    status: 404,
    title: 'Node not registered',
    sentence:
      'Node "{id}" has to register again: it missed its heartbeats, or the servers restored an older state.',
  },
  'node-pool-not-found': {
    status: 404,
    title: 'Node pool not found',
    sentence: 'There is no node pool "{pool}".',
  },
  'namespace-not-found': {
    status: 404,
    title: 'Namespace not found',
    sentence: 'There is no namespace "{namespace}".',
  },
  'partition-not-found': {
    status: 404,
    title: 'Partition not found',
    sentence: 'There is no partition "{partition}".',
  },
  'policy-not-found': {
    status: 404,
    title: 'Policy not found',
    sentence: 'There is no policy "{policy}" in the namespace "{namespace}".',
  },
  'role-not-found': {
    status: 404,
    title: 'Role not found',
    sentence: 'There is no role "{role}" in the namespace "{namespace}".',
  },
  'template-not-found': {
    status: 404,
    title: 'Templated policy not found',
    sentence:
      'There is no templated policy "{template}"; GET /v1/acl/templated-policies lists them.',
  },
  'accessor-not-found': {
    status: 404,
    title: 'Token not found',
    sentence: 'There is no token with the accessor {accessor}.',
  },
  'auth-method-not-found': {
    status: 404,
    title: 'Auth method not found',
    sentence: 'There is no auth method "{name}" in the namespace "{namespace}".',
  },
  'binding-rule-not-found': {
    status: 404,
    title: 'Binding rule not found',
    sentence: 'There is no binding rule {id}.',
  },
  'peering-not-found': {
    status: 404,
    title: 'Peering not found',
    sentence: 'Peering not found for "{name}".',
  },
  'file-not-found': {
    status: 404,
    title: 'File not found',
    sentence: 'There is no file "{path}" in the allocation {allocation}.',
  },
  'config-entry-not-found': {
    status: 404,
    title: 'Configuration entry not found',
    sentence: 'There is no configuration entry {kind} "{name}" in the namespace "{namespace}".',
  },
  'variable-not-found': {
    status: 404,
    title: 'Variable not found',
    sentence: 'There is no variable "{path}" in the namespace "{namespace}".',
  },
  'issuer-not-set': {
    status: 404,
    title: 'No issuer',
    sentence:
      'This cluster has no issuer, so there is nothing to discover; its keys are at /.well-known/jwks.json. Set identity.issuer in the configuration of the servers.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    sentence: '{method} is not possible here; possible: {allowed}.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request too slow',
    sentence: 'The request did not arrive completely within {seconds} s.',
  },

  // 409: the guard of the caller failed, or another record is in the way.
  'idempotency-key-reused': {
    status: 409,
    title: 'Idempotency key reused',
    sentence: 'This Idempotency-Key was sent with another request. Each request needs its own.',
  },
  'answer-not-kept': {
    status: 409,
    title: 'Answer not kept',
    sentence:
      'The request with this Idempotency-Key was run, and its answer was not kept. Look at the result before you send it under another key.',
  },
  'job-missing-for-index': {
    status: 409,
    title: 'Guard failed',
    sentence: 'Enforcing job modify index {index}: the job "{job}" does not exist.',
  },
  'job-exists': {
    status: 409,
    title: 'Guard failed',
    sentence: 'Enforcing job modify index 0: the job "{job}" already exists (index {actual}).',
  },
  'job-index-conflict': {
    status: 409,
    title: 'Guard failed',
    sentence: 'Enforcing job modify index {index}: the job "{job}" has the index {actual}.',
  },
  'job-policy-conflict': {
    status: 409,
    title: 'Guard failed',
    sentence:
      'The job policy "{name}" has the ModifyIndex {actual} (0: there is none), not {index}.',
  },
  'configuration-faulty': {
    status: 409,
    title: 'Faulty configuration',
    sentence: 'Nothing was changed: the configuration of the agent has {faults}',
  },
  'config-conflict': {
    status: 409,
    title: 'Conflict with other configuration entries',
    sentence: '{what}: {faults}.',
  },
  'discovery-chain-refused': {
    status: 409,
    title: 'No discovery chain',
    sentence: 'No discovery chain can be compiled for "{service}": {reason}.',
  },
  'variable-conflict': {
    status: 409,
    title: 'Guard failed',
    sentence: 'The variable "{path}" {reason}, and the guard is {index} (0: there is none).',
  },
  'plan-carried-out': {
    status: 409,
    title: 'Plan carried out',
    sentence: 'The plan "{plan}" was carried out{by} at index {index}, and is carried out once.',
  },
  'plan-outdated': {
    status: 409,
    title: 'Plan outdated',
    sentence: 'The plan cannot be carried out as it was made: {faults}',
  },
  'job-version-conflict': {
    status: 409,
    title: 'Guard failed',
    sentence: 'Enforcing version {version}: the job "{job}" is at version {actual}.',
  },
  'name-taken': {
    status: 409,
    title: 'Name taken',
    sentence: 'The name "{name}" is taken: another {noun} has it.',
  },
  'peering-conflict': { status: 409, title: 'Peering in the way', sentence: '{reason}.' },
  'id-taken': {
    status: 409,
    title: 'Id taken',
    sentence: 'The {field} that was given is already in use.',
  },
  'node-draining': {
    status: 409,
    title: 'Node draining',
    sentence:
      'The node "{node}" is draining: it takes no work until the drain ends or is canceled.',
  },
  'limit-reached': {
    status: 409,
    title: 'Limit reached',
    sentence: 'There are {limit} {noun}s already, which is the limit.',
  },
  'in-use': {
    status: 409,
    title: 'In use',
    sentence: 'The {noun} "{name}" cannot be deleted: {reason}.',
  },

  'body-too-large': {
    status: 413,
    title: 'Body too large',
    sentence: 'The body is larger than {limit} bytes.',
  },
  'url-too-long': {
    status: 414,
    title: 'URL too long',
    sentence: 'The URL is longer than {limit} bytes.',
  },
  'unsupported-encoding': {
    status: 415,
    title: 'Unsupported encoding',
    sentence: 'Bodies encoded as "{encoding}" are not understood.',
  },
  'upgrade-required': {
    status: 426,
    title: 'Upgrade required',
    sentence: 'This path needs a WebSocket: send an upgrade request (RFC 6455).',
  },
  'foreign-site': {
    status: 403,
    title: 'Foreign site',
    sentence:
      'No token was shown, and {header} is "{value}": the request may come from a page of another site in a browser. Show a token, or list the host in "http.allowed_hosts".',
  },
  'client-certificate-required': {
    status: 403,
    title: 'Client certificate required',
    sentence:
      'This server answers only clients with a certificate of the authority that it trusts.',
  },
  'tls-required': {
    status: 403,
    title: 'TLS required',
    sentence:
      'Servers of different machines speak to each other over TLS only, unless the setting for plain connections allows it.',
  },
  'too-many-connections': {
    status: 429,
    title: 'Too many connections',
    sentence: 'This address holds {limit} connections already, which is the limit.',
  },
  'too-many-logins': {
    status: 429,
    title: 'Too many logins',
    sentence: 'There were too many attempts to log in {whence}. Wait before the next one.',
  },
  'too-many-plans': {
    status: 429,
    title: 'Too many plans',
    sentence: 'There are {limit} plans waiting for their turn already, which is the limit.',
  },
  'too-many-explanations': {
    status: 429,
    title: 'Too many explanations',
    sentence: 'There are {limit} explanations waiting for their turn already, which is the limit.',
  },
  'too-many-launches': {
    status: 429,
    title: 'Too many launches',
    sentence:
      'The job "{job}" was launched by hand too often: the ids of the next {limit} seconds are taken.',
  },
  'too-many-sessions': {
    status: 429,
    title: 'Too many sessions',
    sentence: 'This server carries {limit} sessions already, which is the limit.',
  },
  'too-many-ui-connections': {
    status: 429,
    title: 'Too many connections of the web interface',
    sentence:
      'This server holds {limit} connections of the web interface already, which is the limit.',
  },
  'too-many-ui-requests': {
    status: 429,
    title: 'Too many requests on a connection',
    sentence: 'This connection has {limit} {kind} already, which is the limit.',
  },
  'watch-too-large': {
    status: 413,
    title: 'Watched answer too large',
    sentence:
      'The answer does not fit into the {limit} characters that are kept for {kept}. Ask for less: a page (per_page), a prefix or a filter.',
  },
  'not-watchable': {
    status: 400,
    title: 'Not watchable',
    sentence: 'The path "{path}" cannot be watched: only reads and lists can.',
  },
  'too-many-snapshots': {
    status: 429,
    title: 'Too many snapshots',
    sentence: 'This server already saves {limit} snapshots, which is the limit.',
  },
  'too-many-monitors': {
    status: 429,
    title: 'Too many readers of the log',
    sentence: 'The log of this agent has {limit} readers already, which is the limit.',
  },
  'too-many-profiles': {
    status: 429,
    title: 'Profile under way',
    sentence: 'A profile of this process is taken already. Try again when it is done.',
  },
  'too-many-watches': {
    status: 429,
    title: 'Too many blocking queries',
    sentence: 'This server already holds {limit} blocking queries, which is the limit.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Headers too large',
    sentence: 'The headers are larger than {limit} bytes.',
  },

  'no-other-server': {
    status: 409,
    title: 'No other server',
    sentence: 'No other server is connected that could lead.',
  },

  // 500 is always a bug. Its details are in the log, not in the answer.
  'internal-error': {
    status: 500,
    title: 'Internal error',
    sentence:
      'This is a bug in the server. Its log has the details under the request id {request}.',
  },

  // 503: the same request may succeed later, or at another server.
  'no-leader': {
    status: 503,
    title: 'No leader',
    sentence: 'There is no leader at the moment. Try again shortly.',
  },
  'no-leader-since': {
    status: 503,
    title: 'No leader',
    sentence:
      'No server leads since {since}. The node is not missed: the next leader waits for it anew.',
  },
  'upgrade-unfinished': {
    status: 503,
    title: 'Upgrade not finished',
    sentence:
      'Nothing was written: some server does not read the table {table} in its new form yet. See roster operator upgrade status.',
  },
  'not-leader': {
    status: 503,
    title: 'Not the leader',
    sentence: 'This server does not lead, and the request was not run. Another server may take it.',
  },
  'outcome-unknown': {
    status: 503,
    title: 'Outcome unknown',
    sentence:
      'It is unknown whether the request was run: the leader was lost while it was under way. Check the result before you repeat it.',
  },
  'not-ready': {
    status: 503,
    title: 'Not ready',
    sentence: 'This server answers nothing: {reason}.',
  },
  'writes-closed': {
    status: 503,
    title: 'Writes closed',
    sentence: 'Nothing can be written: {reason}. Reads go on.',
  },
  'store-full': {
    status: 503,
    title: 'Store full',
    sentence:
      'The store of the state is nearly full, and takes no new work. Jobs can be stopped and deleted. Compact and defragment the store, or give it a larger quota.',
  },
  'queue-full': {
    status: 503,
    title: 'Queue full',
    sentence: 'The {queue} queue is full at {limit} entries. Try again shortly.',
  },
  'identity-provider-unreachable': {
    status: 503,
    title: 'Identity provider unreachable',
    sentence: 'The identity provider cannot be asked: {reason}.',
  },
  'peer-unreachable': {
    status: 503,
    title: 'Peer unreachable',
    sentence: 'No server of the other cluster could be reached: {reason}.',
  },
  'server-unreachable': {
    status: 503,
    title: 'Server unreachable',
    sentence: 'The server "{server}" does not answer this server at the moment.',
  },
  'node-unreachable': {
    status: 503,
    title: 'Node unreachable',
    sentence: 'The node "{node}" is not connected to this server at the moment.',
  },
  stopping: {
    status: 503,
    title: 'Stopping',
    sentence: 'This server is stopping.',
  },
} as const satisfies Readonly<Record<string, Entry>>;
