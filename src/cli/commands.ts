import type { Command } from './definition.ts';

export interface CommandEntry {
  /** `['job', 'run']` */
  readonly words: readonly string[];
  readonly summary: string;
  /** A command's code is only loaded when it is used. */
  readonly load: () => Promise<Command>;
}

/** The words that stand before commands, and what they are about. */
export const groups: Readonly<Record<string, string>> = {
  job: 'Run, look at and stop jobs.',
  'job periodic': 'Launch jobs that otherwise launch by a schedule.',
  'job policy': 'Say what jobs have to be like.',
  scaling: 'Look at how jobs are scaled.',
  'scaling policy': 'Look at what jobs say about how they are scaled.',
  'job tag': 'Keep versions of jobs under a name.',
  alloc: 'Look at allocations, read their logs, stop and restart them.',
  service: 'Find services, and see how they fare.',
  deployment: 'Look at updates of jobs on their way, and steer them.',
  node: 'Look at the machines that run them, empty them and take them out.',
  'node pool': 'Keep nodes apart for the jobs that name them.',
  eval: 'Look at the decisions of the scheduler.',
  event: 'Follow what happens.',
  'acl auth-method': 'Say how people and machines log in.',
  'acl binding-rule': 'Say what a login gives.',
  config: 'Tell services, gateways and the mesh how to be.',
  intention: 'Find out which services may call each other.',
  var: 'Keep texts that jobs need and nobody else is to see.',
  peering: 'Let clusters find the services of each other.',
  system: 'Look after what is stored.',
  'system reconcile': 'Count anew what is counted along the way.',
  operator: 'Look after the control plane itself.',
  'operator keyring': 'The keys that secrets are sealed under.',
  'operator scheduler': 'How the cluster places.',
  acl: 'Say who may do what.',
  'acl token': 'Hand out and look at tokens.',
  'acl policy': 'Write the rules that tokens are judged by.',
  'acl role': 'Bundle policies under a name.',
  'acl templated-policy': 'Look at the builtin templates of policies.',
  namespace: 'Keep realms of names apart.',
  partition: 'Keep realms of namespaces apart.',
};

export const commands: readonly CommandEntry[] = [
  {
    words: ['agent'],
    summary: 'Start an agent: server and node in one process.',
    load: async () => (await import('./agent/agent.ts')).agent,
  },
  {
    words: ['job', 'run'],
    summary: 'Register or update a job and watch it start.',
    load: async () => (await import('./job/run.ts')).jobRun,
  },
  {
    words: ['job', 'plan'],
    summary: 'Say what registering a job would do.',
    load: async () => (await import('./job/plan.ts')).jobPlan,
  },
  {
    words: ['job', 'history'],
    summary: 'Show the versions of a job, and what changed from one to the next.',
    load: async () => (await import('./job/history.ts')).jobHistory,
  },
  {
    words: ['job', 'validate'],
    summary: 'Say whether a job file is valid.',
    load: async () => (await import('./job/validate.ts')).jobValidate,
  },
  {
    words: ['job', 'init'],
    summary: 'Write a job file to begin with.',
    load: async () => (await import('./job/init.ts')).jobInit,
  },
  {
    words: ['fmt'],
    summary: 'Bring job files and policies into their canonical form.',
    load: async () => (await import('./fmt/fmt.ts')).fmt,
  },
  {
    words: ['job', 'status'],
    summary: 'List the jobs, or show how one fares.',
    load: async () => (await import('./job/status.ts')).jobStatus,
  },
  {
    words: ['job', 'stop'],
    summary: 'Stop a job and watch it end.',
    load: async () => (await import('./job/stop.ts')).jobStop,
  },
  {
    words: ['job', 'dispatch'],
    summary: 'Make a job of a parameterized one and watch it start.',
    load: async () => (await import('./job/dispatch.ts')).jobDispatch,
  },
  {
    words: ['job', 'periodic', 'force'],
    summary: 'Launch a periodic job now and watch it start.',
    load: async () => (await import('./job/periodic-force.ts')).jobPeriodicForce,
  },
  {
    words: ['job', 'why-not'],
    summary: 'Say what stands in the way of what is not placed.',
    load: async () => (await import('./job/why-not.ts')).jobWhyNot,
  },
  {
    words: ['job', 'inspect'],
    summary: 'Print the job as it is registered, as JSON.',
    load: async () => (await import('./job/inspect.ts')).jobInspect,
  },
  {
    words: ['job', 'deployments'],
    summary: 'List the deployments of a job.',
    load: async () => (await import('./job/deployments.ts')).jobDeployments,
  },
  {
    words: ['job', 'promote'],
    summary: "Promote the canaries of a job's latest deployment.",
    load: async () => (await import('./job/promote.ts')).jobPromote,
  },
  {
    words: ['job', 'scale'],
    summary: 'Change how many of a group run.',
    load: async () => (await import('./job/scale.ts')).jobScale,
  },
  {
    words: ['job', 'scaling-events'],
    summary: 'List what was said of the scale of a job.',
    load: async () => (await import('./job/scaling-events.ts')).jobScalingEvents,
  },
  {
    words: ['job', 'action'],
    summary: "Run an action of a job's task.",
    load: async () => (await import('./job/action.ts')).jobAction,
  },
  {
    words: ['job', 'actions'],
    summary: 'List what may be run inside the tasks of a job.',
    load: async () => (await import('./job/actions.ts')).jobActions,
  },
  {
    words: ['job', 'policy', 'apply'],
    summary: 'Create or replace a job policy.',
    load: async () => (await import('./job-policy/policy.ts')).jobPolicyApply,
  },
  {
    words: ['job', 'policy', 'list'],
    summary: 'List the job policies.',
    load: async () => (await import('./job-policy/policy.ts')).jobPolicyList,
  },
  {
    words: ['job', 'policy', 'read'],
    summary: 'Show a job policy.',
    load: async () => (await import('./job-policy/policy.ts')).jobPolicyRead,
  },
  {
    words: ['job', 'policy', 'delete'],
    summary: 'Delete a job policy.',
    load: async () => (await import('./job-policy/policy.ts')).jobPolicyDelete,
  },
  {
    words: ['job', 'policy', 'test'],
    summary: 'Hold a job file against a job policy, without an agent.',
    load: async () => (await import('./job-policy/try.ts')).jobPolicyTest,
  },
  {
    words: ['scaling', 'policy', 'list'],
    summary: 'List the scaling policies of jobs.',
    load: async () => (await import('./scaling/policy.ts')).scalingPolicyList,
  },
  {
    words: ['scaling', 'policy', 'info'],
    summary: 'Show a scaling policy.',
    load: async () => (await import('./scaling/policy.ts')).scalingPolicyInfo,
  },
  {
    words: ['job', 'start'],
    summary: 'Start a job again that was stopped.',
    load: async () => (await import('./job/start.ts')).jobStart,
  },
  {
    words: ['job', 'restart'],
    summary: 'Restart what runs of a job, batch by batch.',
    load: async () => (await import('./job/restart.ts')).jobRestart,
  },
  {
    words: ['job', 'revert'],
    summary: 'Bring back an earlier version of a job.',
    load: async () => (await import('./job/revert.ts')).jobRevert,
  },
  {
    words: ['job', 'eval'],
    summary: 'Let the scheduler look at a job.',
    load: async () => (await import('./job/eval.ts')).jobEval,
  },
  {
    words: ['job', 'allocs'],
    summary: 'List the allocations of a job.',
    load: async () => (await import('./job/allocs.ts')).jobAllocs,
  },
  {
    words: ['job', 'tag', 'apply'],
    summary: 'Keep a version of a job under a name.',
    load: async () => (await import('./job/tag.ts')).jobTagApply,
  },
  {
    words: ['job', 'tag', 'unset'],
    summary: 'Take its name from a version of a job.',
    load: async () => (await import('./job/tag.ts')).jobTagUnset,
  },
  {
    words: ['config', 'write'],
    summary: 'Make or replace a configuration entry.',
    load: async () => (await import('./config/config.ts')).configWrite,
  },
  {
    words: ['config', 'read'],
    summary: 'Show a configuration entry.',
    load: async () => (await import('./config/config.ts')).configRead,
  },
  {
    words: ['config', 'list'],
    summary: 'List configuration entries.',
    load: async () => (await import('./config/config.ts')).configList,
  },
  {
    words: ['config', 'delete'],
    summary: 'Delete a configuration entry.',
    load: async () => (await import('./config/config.ts')).configDelete,
  },
  {
    words: ['config', 'chain'],
    summary: 'Show what the routing entries of a service come to.',
    load: async () => (await import('./config/chain.ts')).configChain,
  },
  {
    words: ['service', 'exported'],
    summary: 'List the services that others may use, and who.',
    load: async () => (await import('./service/exchanged.ts')).serviceExported,
  },
  {
    words: ['service', 'imported'],
    summary: 'List the services of peers that may be used here.',
    load: async () => (await import('./service/exchanged.ts')).serviceImported,
  },
  {
    words: ['intention', 'check'],
    summary: 'Say whether one service may call another one, and why.',
    load: async () => (await import('./intention/intention.ts')).intentionCheck,
  },
  {
    words: ['intention', 'match'],
    summary: 'List the intentions that are of a service.',
    load: async () => (await import('./intention/intention.ts')).intentionMatch,
  },
  {
    words: ['var', 'put'],
    summary: 'Create a variable, or replace its items.',
    load: async () => (await import('./var/put.ts')).varPut,
  },
  {
    words: ['var', 'get'],
    summary: 'Read a variable.',
    load: async () => (await import('./var/var.ts')).varGet,
  },
  {
    words: ['var', 'list'],
    summary: 'List variables, without what is in them.',
    load: async () => (await import('./var/var.ts')).varList,
  },
  {
    words: ['var', 'purge'],
    summary: 'Delete a variable.',
    load: async () => (await import('./var/var.ts')).varPurge,
  },
  {
    words: ['var', 'init'],
    summary: 'Write a description of a variable to begin with.',
    load: async () => (await import('./var/var.ts')).varInit,
  },
  {
    words: ['peering', 'generate-token'],
    summary: 'Make a token that another cluster peers with this one with.',
    load: async () => (await import('./peering/generate-token.ts')).peeringGenerateToken,
  },
  {
    words: ['peering', 'establish'],
    summary: 'Peer with the cluster that made the token.',
    load: async () => (await import('./peering/establish.ts')).peeringEstablish,
  },
  {
    words: ['peering', 'read'],
    summary: 'Show how a peering fares.',
    load: async () => (await import('./peering/show.ts')).peeringRead,
  },
  {
    words: ['peering', 'list'],
    summary: 'List the peerings.',
    load: async () => (await import('./peering/show.ts')).peeringList,
  },
  {
    words: ['peering', 'delete'],
    summary: 'Part with another cluster.',
    load: async () => (await import('./peering/delete.ts')).peeringDelete,
  },
  {
    words: ['peering', 'exported-services'],
    summary: 'List the services that go to a peer.',
    load: async () => (await import('./peering/exchanged-services.ts')).peeringExportedServices,
  },
  {
    words: ['peering', 'why'],
    summary: 'Say why a service is or is not at a peer, and one of the peer here.',
    load: async () => (await import('./peering/exchanged-services.ts')).peeringWhy,
  },
  {
    words: ['system', 'gc'],
    summary: 'Delete at once what nothing needs any more.',
    load: async () => (await import('./system/gc.ts')).systemGc,
  },
  {
    words: ['system', 'reconcile', 'summaries'],
    summary: "Count every job's allocations anew.",
    load: async () => (await import('./system/reconcile.ts')).systemReconcileSummaries,
  },
  {
    words: ['alloc', 'status'],
    summary: 'List the allocations, or show how one fares.',
    load: async () => (await import('./alloc/status.ts')).allocStatus,
  },
  {
    words: ['alloc', 'why'],
    summary: 'Say why an allocation is on its node.',
    load: async () => (await import('./alloc/why.ts')).allocWhy,
  },
  {
    words: ['alloc', 'fs'],
    summary: 'List or print the files of an allocation.',
    load: async () => (await import('./alloc/fs.ts')).allocFs,
  },
  {
    words: ['alloc', 'logs'],
    summary: 'Print what a task wrote, and follow it.',
    load: async () => (await import('./alloc/logs.ts')).allocLogs,
  },
  {
    words: ['alloc', 'stop'],
    summary: 'Stop an allocation and watch another take its place.',
    load: async () => (await import('./alloc/stop.ts')).allocStop,
  },
  {
    words: ['alloc', 'restart'],
    summary: 'Restart tasks of an allocation.',
    load: async () => (await import('./alloc/restart.ts')).allocRestart,
  },
  {
    words: ['alloc', 'exec'],
    summary: 'Run a command in a task of an allocation.',
    load: async () => (await import('./alloc/exec.ts')).allocExec,
  },
  {
    words: ['alloc', 'signal'],
    summary: 'Send a signal to tasks of an allocation.',
    load: async () => (await import('./alloc/signal.ts')).allocSignal,
  },
  {
    words: ['alloc', 'checks'],
    summary: 'Show how the checks of an allocation fare.',
    load: async () => (await import('./alloc/checks.ts')).allocChecks,
  },
  {
    words: ['service', 'list'],
    summary: 'List the services.',
    load: async () => (await import('./service/service.ts')).serviceList,
  },
  {
    words: ['service', 'info'],
    summary: 'Show where a service is reached.',
    load: async () => (await import('./service/service.ts')).serviceInfo,
  },
  {
    words: ['service', 'delete'],
    summary: 'Take an instance of a service out of the list.',
    load: async () => (await import('./service/service.ts')).serviceDelete,
  },
  {
    words: ['deployment', 'list'],
    summary: 'List the deployments.',
    load: async () => (await import('./deployment/list.ts')).deploymentList,
  },
  {
    words: ['deployment', 'status'],
    summary: 'Show how far a deployment has come, and watch it.',
    load: async () => (await import('./deployment/status.ts')).deploymentStatus,
  },
  {
    words: ['deployment', 'promote'],
    summary: 'Promote the canaries of a deployment.',
    load: async () => (await import('./deployment/promote.ts')).deploymentPromote,
  },
  {
    words: ['deployment', 'fail'],
    summary: 'End a deployment as failed.',
    load: async () => (await import('./deployment/act.ts')).deploymentFail,
  },
  {
    words: ['deployment', 'pause'],
    summary: 'Place nothing new of a deployment for now.',
    load: async () => (await import('./deployment/act.ts')).deploymentPause,
  },
  {
    words: ['deployment', 'resume'],
    summary: 'Let a deployment that is paused go on.',
    load: async () => (await import('./deployment/act.ts')).deploymentResume,
  },
  {
    words: ['deployment', 'unblock'],
    summary: 'End a deployment that waits for other regions.',
    load: async () => (await import('./deployment/act.ts')).deploymentUnblock,
  },
  {
    words: ['node', 'status'],
    summary: 'List the nodes, or show how one fares.',
    load: async () => (await import('./node/status.ts')).nodeStatus,
  },
  {
    words: ['node', 'drain'],
    summary: 'Move away what runs on a node, and watch it.',
    load: async () => (await import('./node/drain.ts')).nodeDrain,
  },
  {
    words: ['node', 'eligibility'],
    summary: 'Say whether the scheduler may place on a node.',
    load: async () => (await import('./node/eligibility.ts')).nodeEligibility,
  },
  {
    words: ['node', 'purge'],
    summary: 'Forget a node at once.',
    load: async () => (await import('./node/purge.ts')).nodePurge,
  },
  {
    words: ['node', 'pool', 'apply'],
    summary: 'Create or replace a node pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePoolApply,
  },
  {
    words: ['node', 'pool', 'info'],
    summary: 'Show a node pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePoolInfo,
  },
  {
    words: ['node', 'pool', 'list'],
    summary: 'List the node pools.',
    load: async () => (await import('./node-pool/pool.ts')).nodePoolList,
  },
  {
    words: ['node', 'pool', 'nodes'],
    summary: 'List the nodes of a pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePoolNodes,
  },
  {
    words: ['node', 'pool', 'jobs'],
    summary: 'List the jobs that want the nodes of a pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePoolJobs,
  },
  {
    words: ['node', 'pool', 'delete'],
    summary: 'Delete a node pool that nothing is in.',
    load: async () => (await import('./node-pool/pool.ts')).nodePoolDelete,
  },
  {
    words: ['eval', 'list'],
    summary: 'List the evaluations.',
    load: async () => (await import('./eval/list.ts')).evalList,
  },
  {
    words: ['event', 'stream'],
    summary: 'Print what happens, as it happens.',
    load: async () => (await import('./event/stream.ts')).eventStream,
  },
  {
    words: ['eval', 'status'],
    summary: 'Show what an evaluation decided.',
    load: async () => (await import('./eval/status.ts')).evalStatus,
  },
  {
    words: ['eval', 'delete'],
    summary: 'Forget evaluations.',
    load: async () => (await import('./eval/delete.ts')).evalDelete,
  },
  {
    words: ['acl', 'why'],
    summary: 'Say why a token may do something, or may not.',
    load: async () => (await import('./acl/why.ts')).aclWhy,
  },
  {
    words: ['acl', 'policy', 'test'],
    summary: 'Hold rules against what they are expected to allow and deny.',
    load: async () => (await import('./acl/policy-test.ts')).aclPolicyTest,
  },
  {
    words: ['acl', 'policy', 'diff'],
    summary: 'Say what other rules would change, and for which tokens.',
    load: async () => (await import('./acl/policy-diff.ts')).aclPolicyDiff,
  },
  {
    words: ['acl', 'bootstrap'],
    summary: 'Make the first token, which may do everything.',
    load: async () => (await import('./acl/bootstrap.ts')).aclBootstrap,
  },
  {
    words: ['acl', 'token', 'create'],
    summary: 'Create a token.',
    load: async () => (await import('./acl/token.ts')).tokenCreate,
  },
  {
    words: ['acl', 'token', 'read'],
    summary: 'Show a token.',
    load: async () => (await import('./acl/token.ts')).tokenRead,
  },
  {
    words: ['acl', 'token', 'update'],
    summary: 'Change a token.',
    load: async () => (await import('./acl/token.ts')).tokenUpdate,
  },
  {
    words: ['acl', 'token', 'clone'],
    summary: 'Make a token with the links of another.',
    load: async () => (await import('./acl/token.ts')).tokenClone,
  },
  {
    words: ['acl', 'token', 'delete'],
    summary: 'Delete a token.',
    load: async () => (await import('./acl/token.ts')).tokenDelete,
  },
  {
    words: ['acl', 'token', 'list'],
    summary: 'List the tokens.',
    load: async () => (await import('./acl/token.ts')).tokenList,
  },
  {
    words: ['acl', 'policy', 'create'],
    summary: 'Create a policy.',
    load: async () => (await import('./acl/policy.ts')).policyCreate,
  },
  {
    words: ['acl', 'policy', 'read'],
    summary: 'Show a policy.',
    load: async () => (await import('./acl/policy.ts')).policyRead,
  },
  {
    words: ['acl', 'policy', 'update'],
    summary: 'Change a policy.',
    load: async () => (await import('./acl/policy.ts')).policyUpdate,
  },
  {
    words: ['acl', 'policy', 'delete'],
    summary: 'Delete a policy.',
    load: async () => (await import('./acl/policy.ts')).policyDelete,
  },
  {
    words: ['acl', 'policy', 'list'],
    summary: 'List the policies.',
    load: async () => (await import('./acl/policy.ts')).policyList,
  },
  {
    words: ['acl', 'role', 'create'],
    summary: 'Create a role.',
    load: async () => (await import('./acl/role.ts')).roleCreate,
  },
  {
    words: ['acl', 'role', 'read'],
    summary: 'Show a role.',
    load: async () => (await import('./acl/role.ts')).roleRead,
  },
  {
    words: ['acl', 'role', 'update'],
    summary: 'Change a role.',
    load: async () => (await import('./acl/role.ts')).roleUpdate,
  },
  {
    words: ['acl', 'role', 'delete'],
    summary: 'Delete a role.',
    load: async () => (await import('./acl/role.ts')).roleDelete,
  },
  {
    words: ['acl', 'role', 'list'],
    summary: 'List the roles.',
    load: async () => (await import('./acl/role.ts')).roleList,
  },
  {
    words: ['acl', 'templated-policy', 'list'],
    summary: 'List the templates of policies.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyList,
  },
  {
    words: ['acl', 'templated-policy', 'read'],
    summary: 'Show a template of policies.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyRead,
  },
  {
    words: ['acl', 'templated-policy', 'preview'],
    summary: 'Show the rules that a template stands for.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyPreview,
  },
  {
    words: ['namespace', 'create'],
    summary: 'Create a namespace.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.create,
  },
  {
    words: ['namespace', 'read'],
    summary: 'Show a namespace.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.read,
  },
  {
    words: ['namespace', 'update'],
    summary: 'Change a namespace.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.update,
  },
  {
    words: ['namespace', 'delete'],
    summary: 'Delete a namespace.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.delete,
  },
  {
    words: ['namespace', 'list'],
    summary: 'List the namespaces.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.list,
  },
  {
    words: ['partition', 'create'],
    summary: 'Create a partition.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.create,
  },
  {
    words: ['partition', 'read'],
    summary: 'Show a partition.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.read,
  },
  {
    words: ['partition', 'update'],
    summary: 'Change a partition.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.update,
  },
  {
    words: ['partition', 'delete'],
    summary: 'Delete a partition.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.delete,
  },
  {
    words: ['partition', 'list'],
    summary: 'List the partitions.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.list,
  },
  {
    words: ['acl', 'auth-method', 'create'],
    summary: 'Create an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodCreate,
  },
  {
    words: ['acl', 'auth-method', 'read'],
    summary: 'Show an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodRead,
  },
  {
    words: ['acl', 'auth-method', 'update'],
    summary: 'Change an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodUpdate,
  },
  {
    words: ['acl', 'auth-method', 'delete'],
    summary: 'Delete an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodDelete,
  },
  {
    words: ['acl', 'auth-method', 'list'],
    summary: 'List the auth methods.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodList,
  },
  {
    words: ['acl', 'binding-rule', 'create'],
    summary: 'Create a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleCreate,
  },
  {
    words: ['acl', 'binding-rule', 'read'],
    summary: 'Show a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleRead,
  },
  {
    words: ['acl', 'binding-rule', 'update'],
    summary: 'Change a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleUpdate,
  },
  {
    words: ['acl', 'binding-rule', 'delete'],
    summary: 'Delete a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleDelete,
  },
  {
    words: ['acl', 'binding-rule', 'list'],
    summary: 'List the binding rules.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleList,
  },
  {
    words: ['login'],
    summary: 'Log in and get a token.',
    load: async () => (await import('./login/login.ts')).login,
  },
  {
    words: ['logout'],
    summary: 'End the token of a login.',
    load: async () => (await import('./login/logout.ts')).logout,
  },
  {
    words: ['operator', 'keyring', 'list'],
    summary: 'List the keys of the keyring.',
    load: async () => (await import('./operator/keyring.ts')).keyringList,
  },
  {
    words: ['operator', 'keyring', 'rotate'],
    summary: 'Make a new key and seal every secret anew.',
    load: async () => (await import('./operator/keyring.ts')).keyringRotate,
  },
  {
    words: ['operator', 'scheduler', 'get-config'],
    summary: 'Show how the cluster places.',
    load: async () => (await import('./operator/scheduler.ts')).schedulerGetConfig,
  },
  {
    words: ['operator', 'scheduler', 'set-config'],
    summary: 'Change how the cluster places.',
    load: async () => (await import('./operator/scheduler.ts')).schedulerSetConfig,
  },
  {
    words: ['version'],
    summary: 'Print the version of this program.',
    load: async () => (await import('./version.ts')).version,
  },
  {
    words: ['completion'],
    summary: 'Print a completion script for your shell.',
    load: async () => (await import('./completion/completion.ts')).completion,
  },
];
