/**
 * The commands, in the order of the help. `npm run docs` writes this file from the commands themselves: their
 * words, their summaries and their places. Nothing here loads a command before it is used.
 */
import type { CommandEntry } from './command-entry.ts';

export const commands: readonly CommandEntry[] = [
  {
    words: ['agent'],
    summary: 'Start an agent: server and node in one process.',
    load: async () => (await import('./agent/agent.ts')).agent,
  },
  {
    words: ['agent', 'reload'],
    summary: 'Have the agent read its configuration files again.',
    load: async () => (await import('./agent/reload.ts')).agentReload,
  },
  {
    words: ['agent', 'validate'],
    summary: 'Check configuration files of an agent.',
    load: async () => (await import('./agent/validate.ts')).agentValidate,
  },
  {
    words: ['status'],
    summary: 'Show a job, node, allocation, evaluation or deployment by its id.',
    load: async () => (await import('./status/status.ts')).status,
  },
  {
    words: ['overview'],
    summary: 'Count jobs, allocations and nodes by their status, and sum up what nodes offer.',
    load: async () => (await import('./overview/overview.ts')).overview,
  },
  {
    words: ['attention'],
    summary: 'List what needs attention, the worst first, with reasons.',
    load: async () => (await import('./attention/attention.ts')).attention,
  },
  {
    words: ['search'],
    summary: 'Find everything that has a text in its name.',
    load: async () => (await import('./search/search.ts')).search,
  },
  {
    words: ['ui'],
    summary: 'Open the web interface, signed in with the rights of your token.',
    load: async () => (await import('./ui/ui.ts')).ui,
  },
  {
    words: ['job', 'action'],
    summary: "Run an action of a job's task.",
    load: async () => (await import('./job/action.ts')).jobAction,
  },
  {
    words: ['job', 'actions'],
    summary: 'List the actions of the tasks of a job.',
    load: async () => (await import('./job/actions.ts')).jobActions,
  },
  {
    words: ['job', 'allocs'],
    summary: 'List the allocations of a job.',
    load: async () => (await import('./job/allocs.ts')).jobAllocs,
  },
  {
    words: ['job', 'deployments'],
    summary: 'List the deployments of a job.',
    load: async () => (await import('./job/deployments.ts')).jobDeployments,
  },
  {
    words: ['job', 'dispatch'],
    summary: 'Launch a child of a parameterized job and watch it start.',
    load: async () => (await import('./job/dispatch.ts')).jobDispatch,
  },
  {
    words: ['job', 'eval'],
    summary: 'Make an evaluation of a job.',
    load: async () => (await import('./job/eval.ts')).jobEval,
  },
  {
    words: ['job', 'history'],
    summary: 'Show the versions of a job, with their differences.',
    load: async () => (await import('./job/history.ts')).jobHistory,
  },
  {
    words: ['job', 'init'],
    summary: 'Write an example of a job file.',
    load: async () => (await import('./job/init.ts')).jobInit,
  },
  {
    words: ['job', 'inspect'],
    summary: 'Print the job as it is registered, as JSON.',
    load: async () => (await import('./job/inspect.ts')).jobInspect,
  },
  {
    words: ['job', 'periodic', 'force'],
    summary: 'Launch a periodic job now and watch it start.',
    load: async () => (await import('./job/periodic-force.ts')).jobPeriodicForce,
  },
  {
    words: ['job', 'plan'],
    summary: 'Show the changes that a job file would make.',
    load: async () => (await import('./job/plan.ts')).jobPlan,
  },
  {
    words: ['job', 'policy', 'apply'],
    summary: 'Create or replace a job policy.',
    load: async () => (await import('./job-policy/policy.ts')).jobPolicies.create!,
  },
  {
    words: ['job', 'policy', 'delete'],
    summary: 'Delete a job policy.',
    load: async () => (await import('./job-policy/policy.ts')).jobPolicies.delete!,
  },
  {
    words: ['job', 'policy', 'list'],
    summary: 'List the job policies.',
    load: async () => (await import('./job-policy/policy.ts')).jobPolicies.list!,
  },
  {
    words: ['job', 'policy', 'read'],
    summary: 'Show a job policy.',
    load: async () => (await import('./job-policy/policy.ts')).jobPolicies.read!,
  },
  {
    words: ['job', 'policy', 'test'],
    summary: 'Test a job policy on a job file, without an agent.',
    load: async () => (await import('./job-policy/try.ts')).jobPolicyTest,
  },
  {
    words: ['job', 'promote'],
    summary: "Promote the canaries of a job's latest deployment.",
    load: async () => (await import('./job/promote.ts')).jobPromote,
  },
  {
    words: ['job', 'restart'],
    summary: 'Restart the allocations of a job, batch by batch.',
    load: async () => (await import('./job/restart.ts')).jobRestart,
  },
  {
    words: ['job', 'revert'],
    summary: 'Revert a job to an earlier version.',
    load: async () => (await import('./job/revert.ts')).jobRevert,
  },
  {
    words: ['job', 'run'],
    summary: 'Register or update a job and watch it start.',
    load: async () => (await import('./job/run.ts')).jobRun,
  },
  {
    words: ['job', 'scale'],
    summary: 'Change the count of a group.',
    load: async () => (await import('./job/scale.ts')).jobScale,
  },
  {
    words: ['job', 'scaling-events'],
    summary: 'List the scaling events of a job.',
    load: async () => (await import('./job/scaling-events.ts')).jobScalingEvents,
  },
  {
    words: ['job', 'start'],
    summary: 'Start a stopped job.',
    load: async () => (await import('./job/start.ts')).jobStart,
  },
  {
    words: ['job', 'status'],
    summary: 'List the jobs, or show a job.',
    load: async () => (await import('./job/status.ts')).jobStatus,
  },
  {
    words: ['job', 'stop'],
    summary: 'Stop a job and watch it end.',
    load: async () => (await import('./job/stop.ts')).jobStop,
  },
  {
    words: ['job', 'tag', 'apply'],
    summary: 'Tag a version of a job with a name.',
    load: async () => (await import('./job/tag.ts')).jobTagApply,
  },
  {
    words: ['job', 'tag', 'unset'],
    summary: 'Remove a tag from a version of a job.',
    load: async () => (await import('./job/tag.ts')).jobTagUnset,
  },
  {
    words: ['job', 'validate'],
    summary: 'Check a job file.',
    load: async () => (await import('./job/validate.ts')).jobValidate,
  },
  {
    words: ['job', 'why-not'],
    summary: 'Explain why allocations of a job are not placed.',
    load: async () => (await import('./job/why-not.ts')).jobWhyNot,
  },
  {
    words: ['plan', 'again'],
    summary: 'Plan the act of a plan again, on the newest state.',
    load: async () => (await import('./plan/plan.ts')).planAgain,
  },
  {
    words: ['plan', 'apply'],
    summary: 'Carry a plan out exactly as it was shown, or not at all.',
    load: async () => (await import('./plan/plan.ts')).planApply,
  },
  {
    words: ['plan', 'discard'],
    summary: 'Discard a plan, so that nobody carries it out.',
    load: async () => (await import('./plan/plan.ts')).planDiscard,
  },
  {
    words: ['plan', 'list'],
    summary: 'List the plans that wait to be carried out, or were.',
    load: async () => (await import('./plan/plan.ts')).planList,
  },
  {
    words: ['plan', 'show'],
    summary: 'Show a plan.',
    load: async () => (await import('./plan/plan.ts')).planShow,
  },
  {
    words: ['fmt'],
    summary: 'Format job files and policies.',
    load: async () => (await import('./fmt/fmt.ts')).fmt,
  },
  {
    words: ['scaling', 'policy', 'info'],
    summary: 'Show a scaling policy.',
    load: async () => (await import('./scaling/policy.ts')).scalingPolicyInfo,
  },
  {
    words: ['scaling', 'policy', 'list'],
    summary: 'List the scaling policies of jobs.',
    load: async () => (await import('./scaling/policy.ts')).scalingPolicyList,
  },
  {
    words: ['alloc', 'checks'],
    summary: 'Show the health checks of an allocation.',
    load: async () => (await import('./alloc/checks.ts')).allocChecks,
  },
  {
    words: ['alloc', 'exec'],
    summary: 'Run a command in a task of an allocation.',
    load: async () => (await import('./alloc/exec.ts')).allocExec,
  },
  {
    words: ['alloc', 'fs'],
    summary: 'List or print the files of an allocation.',
    load: async () => (await import('./alloc/fs.ts')).allocFs,
  },
  {
    words: ['alloc', 'logs'],
    summary: 'Print the output of a task, and follow it.',
    load: async () => (await import('./alloc/logs.ts')).allocLogs,
  },
  {
    words: ['alloc', 'restart'],
    summary: 'Restart tasks of an allocation.',
    load: async () => (await import('./alloc/restart.ts')).allocRestart,
  },
  {
    words: ['alloc', 'signal'],
    summary: 'Send a signal to tasks of an allocation.',
    load: async () => (await import('./alloc/signal.ts')).allocSignal,
  },
  {
    words: ['alloc', 'status'],
    summary: 'List the allocations, or show an allocation.',
    load: async () => (await import('./alloc/status.ts')).allocStatus,
  },
  {
    words: ['alloc', 'stop'],
    summary: 'Stop an allocation and watch another take its place.',
    load: async () => (await import('./alloc/stop.ts')).allocStop,
  },
  {
    words: ['alloc', 'why'],
    summary: 'Explain why an allocation is on its node.',
    load: async () => (await import('./alloc/why.ts')).allocWhy,
  },
  {
    words: ['service', 'delete'],
    summary: 'Deregister an instance of a service.',
    load: async () => (await import('./service/service.ts')).serviceDelete,
  },
  {
    words: ['service', 'exported'],
    summary: 'List the services that are exported to peers and partitions.',
    load: async () => (await import('./service/exchanged.ts')).serviceExported,
  },
  {
    words: ['service', 'imported'],
    summary: 'List the services that are imported from peers.',
    load: async () => (await import('./service/exchanged.ts')).serviceImported,
  },
  {
    words: ['service', 'info'],
    summary: 'Show the instances of a service, with their addresses.',
    load: async () => (await import('./service/service.ts')).serviceInfo,
  },
  {
    words: ['service', 'list'],
    summary: 'List the services.',
    load: async () => (await import('./service/service.ts')).serviceList,
  },
  {
    words: ['deployment', 'fail'],
    summary: 'Fail a deployment.',
    load: async () => (await import('./deployment/act.ts')).deploymentFail,
  },
  {
    words: ['deployment', 'list'],
    summary: 'List the deployments.',
    load: async () => (await import('./deployment/list.ts')).deploymentList,
  },
  {
    words: ['deployment', 'pause'],
    summary: 'Pause a deployment.',
    load: async () => (await import('./deployment/act.ts')).deploymentPause,
  },
  {
    words: ['deployment', 'promote'],
    summary: 'Promote the canaries of a deployment.',
    load: async () => (await import('./deployment/promote.ts')).deploymentPromote,
  },
  {
    words: ['deployment', 'resume'],
    summary: 'Resume a paused deployment.',
    load: async () => (await import('./deployment/act.ts')).deploymentResume,
  },
  {
    words: ['deployment', 'status'],
    summary: 'Show the progress of a deployment, and watch it.',
    load: async () => (await import('./deployment/status.ts')).deploymentStatus,
  },
  {
    words: ['deployment', 'unblock'],
    summary: 'End a deployment that waits for other regions.',
    load: async () => (await import('./deployment/act.ts')).deploymentUnblock,
  },
  {
    words: ['eval', 'delete'],
    summary: 'Delete evaluations.',
    load: async () => (await import('./eval/delete.ts')).evalDelete,
  },
  {
    words: ['eval', 'list'],
    summary: 'List the evaluations.',
    load: async () => (await import('./eval/list.ts')).evalList,
  },
  {
    words: ['eval', 'status'],
    summary: 'Show an evaluation and its placements.',
    load: async () => (await import('./eval/status.ts')).evalStatus,
  },
  {
    words: ['event', 'stream'],
    summary: 'Follow the events of the cluster.',
    load: async () => (await import('./event/stream.ts')).eventStream,
  },
  {
    words: ['node', 'drain'],
    summary: 'Move all allocations off a node, and watch.',
    load: async () => (await import('./node/drain.ts')).nodeDrain,
  },
  {
    words: ['node', 'eligibility'],
    summary: 'Allow or forbid new allocations on a node.',
    load: async () => (await import('./node/eligibility.ts')).nodeEligibility,
  },
  {
    words: ['node', 'intro', 'create'],
    summary: 'Make a token that admits new nodes.',
    load: async () => (await import('./node/intro.ts')).nodeIntroCreate,
  },
  {
    words: ['node', 'intro', 'list'],
    summary: 'List the tokens that admit nodes.',
    load: async () => (await import('./node/intro.ts')).nodeIntroList,
  },
  {
    words: ['node', 'intro', 'revoke'],
    summary: 'Revoke a token, so that it admits no more nodes.',
    load: async () => (await import('./node/intro.ts')).nodeIntroRevoke,
  },
  {
    words: ['node', 'pool', 'apply'],
    summary: 'Create or replace a node pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePools.create!,
  },
  {
    words: ['node', 'pool', 'delete'],
    summary: 'Delete an empty node pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePools.delete!,
  },
  {
    words: ['node', 'pool', 'info'],
    summary: 'Show a node pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePools.read!,
  },
  {
    words: ['node', 'pool', 'init'],
    summary: 'Write an example of a node pool file.',
    load: async () => (await import('./node-pool/init.ts')).nodePoolInit,
  },
  {
    words: ['node', 'pool', 'jobs'],
    summary: 'List the jobs that name a pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePoolJobs,
  },
  {
    words: ['node', 'pool', 'list'],
    summary: 'List the node pools.',
    load: async () => (await import('./node-pool/pool.ts')).nodePools.list!,
  },
  {
    words: ['node', 'pool', 'nodes'],
    summary: 'List the nodes of a pool.',
    load: async () => (await import('./node-pool/pool.ts')).nodePoolNodes,
  },
  {
    words: ['node', 'purge'],
    summary: 'Delete a node at once.',
    load: async () => (await import('./node/purge.ts')).nodePurge,
  },
  {
    words: ['node', 'status'],
    summary: 'List the nodes, or show a node.',
    load: async () => (await import('./node/status.ts')).nodeStatus,
  },
  {
    words: ['node', 'topology'],
    summary: 'List the nodes with what they offer, and what allocations hold of it.',
    load: async () => (await import('./node/topology.ts')).nodeTopology,
  },
  {
    words: ['config', 'chain'],
    summary: 'Show the discovery chain of a service.',
    load: async () => (await import('./config/chain.ts')).configChain,
  },
  {
    words: ['config', 'delete'],
    summary: 'Delete a configuration entry.',
    load: async () => (await import('./config/config.ts')).configDelete,
  },
  {
    words: ['config', 'list'],
    summary: 'List configuration entries.',
    load: async () => (await import('./config/config.ts')).configList,
  },
  {
    words: ['config', 'read'],
    summary: 'Show a configuration entry.',
    load: async () => (await import('./config/config.ts')).configRead,
  },
  {
    words: ['config', 'write'],
    summary: 'Make or replace a configuration entry.',
    load: async () => (await import('./config/config.ts')).configWrite,
  },
  {
    words: ['intention', 'check'],
    summary: 'Check whether a service may call another, and why.',
    load: async () => (await import('./intention/intention.ts')).intentionCheck,
  },
  {
    words: ['intention', 'match'],
    summary: 'List the intentions of a service.',
    load: async () => (await import('./intention/intention.ts')).intentionMatch,
  },
  {
    words: ['intention', 'matrix'],
    summary: 'List which services may call which.',
    load: async () => (await import('./intention/intention.ts')).intentionMatrix,
  },
  {
    words: ['var', 'get'],
    summary: 'Read a variable.',
    load: async () => (await import('./var/var.ts')).varGet,
  },
  {
    words: ['var', 'init'],
    summary: 'Write an example of a variable file.',
    load: async () => (await import('./var/var.ts')).varInit,
  },
  {
    words: ['var', 'list'],
    summary: 'List variables, without their items.',
    load: async () => (await import('./var/var.ts')).varList,
  },
  {
    words: ['var', 'purge'],
    summary: 'Delete a variable.',
    load: async () => (await import('./var/var.ts')).varPurge,
  },
  {
    words: ['var', 'put'],
    summary: 'Create a variable, or replace its items.',
    load: async () => (await import('./var/put.ts')).varPut,
  },
  {
    words: ['peering', 'delete'],
    summary: 'Delete a peering.',
    load: async () => (await import('./peering/delete.ts')).peeringDelete,
  },
  {
    words: ['peering', 'establish'],
    summary: 'Connect to the cluster that made the peering token.',
    load: async () => (await import('./peering/establish.ts')).peeringEstablish,
  },
  {
    words: ['peering', 'exported-services'],
    summary: 'List the services that are exported to a peer.',
    load: async () => (await import('./peering/exchanged-services.ts')).peeringExportedServices,
  },
  {
    words: ['peering', 'generate-token'],
    summary: 'Make a peering token for another cluster.',
    load: async () => (await import('./peering/generate-token.ts')).peeringGenerateToken,
  },
  {
    words: ['peering', 'list'],
    summary: 'List the peerings.',
    load: async () => (await import('./peering/show.ts')).peeringList,
  },
  {
    words: ['peering', 'read'],
    summary: 'Show a peering.',
    load: async () => (await import('./peering/show.ts')).peeringRead,
  },
  {
    words: ['peering', 'why'],
    summary:
      'Explain why a service is or is not visible at a peer, and a service of the peer here.',
    load: async () => (await import('./peering/exchanged-services.ts')).peeringWhy,
  },
  {
    words: ['acl', 'auth-method', 'create'],
    summary: 'Create an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethods.create!,
  },
  {
    words: ['acl', 'auth-method', 'delete'],
    summary: 'Delete an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethods.delete!,
  },
  {
    words: ['acl', 'auth-method', 'list'],
    summary: 'List the auth methods.',
    load: async () => (await import('./acl/auth-method.ts')).authMethods.list!,
  },
  {
    words: ['acl', 'auth-method', 'read'],
    summary: 'Show an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethods.read!,
  },
  {
    words: ['acl', 'auth-method', 'update'],
    summary: 'Change an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethods.update!,
  },
  {
    words: ['acl', 'binding-rule', 'create'],
    summary: 'Create a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRules.create!,
  },
  {
    words: ['acl', 'binding-rule', 'delete'],
    summary: 'Delete a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRules.delete!,
  },
  {
    words: ['acl', 'binding-rule', 'list'],
    summary: 'List the binding rules.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRules.list!,
  },
  {
    words: ['acl', 'binding-rule', 'read'],
    summary: 'Show a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRules.read!,
  },
  {
    words: ['acl', 'binding-rule', 'update'],
    summary: 'Change a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRules.update!,
  },
  {
    words: ['acl', 'bootstrap'],
    summary: 'Make the first token, a management token.',
    load: async () => (await import('./acl/bootstrap.ts')).aclBootstrap,
  },
  {
    words: ['acl', 'denials'],
    summary: 'List requests that a server has refused, the newest first.',
    load: async () => (await import('./acl/denials.ts')).aclDenials,
  },
  {
    words: ['acl', 'policy', 'apply'],
    summary: 'Create a policy, or change it.',
    load: async () => (await import('./acl/policy-apply.ts')).policyApply,
  },
  {
    words: ['acl', 'policy', 'create'],
    summary: 'Create a policy.',
    load: async () => (await import('./acl/policy.ts')).policies.create!,
  },
  {
    words: ['acl', 'policy', 'delete'],
    summary: 'Delete a policy.',
    load: async () => (await import('./acl/policy.ts')).policies.delete!,
  },
  {
    words: ['acl', 'policy', 'diff'],
    summary: 'Show the permissions that a change of rules would grant and revoke, by token.',
    load: async () => (await import('./acl/policy-diff.ts')).aclPolicyDiff,
  },
  {
    words: ['acl', 'policy', 'list'],
    summary: 'List the policies.',
    load: async () => (await import('./acl/policy.ts')).policies.list!,
  },
  {
    words: ['acl', 'policy', 'read'],
    summary: 'Show a policy.',
    load: async () => (await import('./acl/policy.ts')).policies.read!,
  },
  {
    words: ['acl', 'policy', 'test'],
    summary: 'Test rules against the permissions that they should allow and deny.',
    load: async () => (await import('./acl/policy-test.ts')).aclPolicyTest,
  },
  {
    words: ['acl', 'policy', 'try'],
    summary: 'Try rules on the server before they are stored: what they would allow, and why.',
    load: async () => (await import('./acl/policy-try.ts')).aclPolicyTry,
  },
  {
    words: ['acl', 'policy', 'update'],
    summary: 'Change a policy.',
    load: async () => (await import('./acl/policy.ts')).policies.update!,
  },
  {
    words: ['acl', 'role', 'create'],
    summary: 'Create a role.',
    load: async () => (await import('./acl/role.ts')).roles.create!,
  },
  {
    words: ['acl', 'role', 'delete'],
    summary: 'Delete a role.',
    load: async () => (await import('./acl/role.ts')).roles.delete!,
  },
  {
    words: ['acl', 'role', 'list'],
    summary: 'List the roles.',
    load: async () => (await import('./acl/role.ts')).roles.list!,
  },
  {
    words: ['acl', 'role', 'read'],
    summary: 'Show a role.',
    load: async () => (await import('./acl/role.ts')).roles.read!,
  },
  {
    words: ['acl', 'role', 'update'],
    summary: 'Change a role.',
    load: async () => (await import('./acl/role.ts')).roles.update!,
  },
  {
    words: ['acl', 'templated-policy', 'list'],
    summary: 'List the templated policies.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyList,
  },
  {
    words: ['acl', 'templated-policy', 'preview'],
    summary: 'Show the rules that a templated policy grants.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyPreview,
  },
  {
    words: ['acl', 'templated-policy', 'read'],
    summary: 'Show a templated policy.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyRead,
  },
  {
    words: ['acl', 'token', 'clone'],
    summary: 'Copy a token.',
    load: async () => (await import('./acl/token.ts')).tokenClone,
  },
  {
    words: ['acl', 'token', 'create'],
    summary: 'Create a token.',
    load: async () => (await import('./acl/token.ts')).tokenCreate,
  },
  {
    words: ['acl', 'token', 'delete'],
    summary: 'Delete a token.',
    load: async () => (await import('./acl/token.ts')).tokens.delete!,
  },
  {
    words: ['acl', 'token', 'list'],
    summary: 'List the tokens.',
    load: async () => (await import('./acl/token.ts')).tokens.list!,
  },
  {
    words: ['acl', 'token', 'read'],
    summary: 'Show a token.',
    load: async () => (await import('./acl/token.ts')).tokens.read!,
  },
  {
    words: ['acl', 'token', 'update'],
    summary: 'Change a token.',
    load: async () => (await import('./acl/token.ts')).tokens.update!,
  },
  {
    words: ['acl', 'why'],
    summary: 'Explain why a token has a permission, or lacks it.',
    load: async () => (await import('./acl/why.ts')).aclWhy,
  },
  {
    words: ['namespace', 'apply'],
    summary: 'Create a namespace, or change it.',
    load: async () => (await import('./namespace/scopes.ts')).namespaceApply,
  },
  {
    words: ['namespace', 'create'],
    summary: 'Create a namespace.',
    load: async () => (await import('./namespace/scopes.ts')).namespaces.create!,
  },
  {
    words: ['namespace', 'delete'],
    summary: 'Delete a namespace.',
    load: async () => (await import('./namespace/scopes.ts')).namespaces.delete!,
  },
  {
    words: ['namespace', 'list'],
    summary: 'List the namespaces.',
    load: async () => (await import('./namespace/scopes.ts')).namespaces.list!,
  },
  {
    words: ['namespace', 'read'],
    summary: 'Show a namespace.',
    load: async () => (await import('./namespace/scopes.ts')).namespaces.read!,
  },
  {
    words: ['namespace', 'update'],
    summary: 'Change a namespace.',
    load: async () => (await import('./namespace/scopes.ts')).namespaces.update!,
  },
  {
    words: ['partition', 'create'],
    summary: 'Create a partition.',
    load: async () => (await import('./namespace/scopes.ts')).partitions.create!,
  },
  {
    words: ['partition', 'delete'],
    summary: 'Delete a partition.',
    load: async () => (await import('./namespace/scopes.ts')).partitions.delete!,
  },
  {
    words: ['partition', 'list'],
    summary: 'List the partitions.',
    load: async () => (await import('./namespace/scopes.ts')).partitions.list!,
  },
  {
    words: ['partition', 'read'],
    summary: 'Show a partition.',
    load: async () => (await import('./namespace/scopes.ts')).partitions.read!,
  },
  {
    words: ['partition', 'update'],
    summary: 'Change a partition.',
    load: async () => (await import('./namespace/scopes.ts')).partitions.update!,
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
    words: ['system', 'gc'],
    summary: 'Run garbage collection now.',
    load: async () => (await import('./system/gc.ts')).systemGc,
  },
  {
    words: ['system', 'reconcile', 'summaries'],
    summary: 'Recount the allocations of every job.',
    load: async () => (await import('./system/reconcile.ts')).systemReconcileSummaries,
  },
  {
    words: ['server', 'health'],
    summary: 'Check the servers of the cluster.',
    load: async () => (await import('./server/health.ts')).serverHealth,
  },
  {
    words: ['server', 'members'],
    summary: 'List the servers of the cluster.',
    load: async () => (await import('./server/members.ts')).serverMembers,
  },
  {
    words: ['agent-info'],
    summary: 'Show name, version, address and limits of the agent.',
    load: async () => (await import('./agent-info/agent-info.ts')).agentInfo,
  },
  {
    words: ['monitor'],
    summary: 'Follow the log of an agent.',
    load: async () => (await import('./agent/monitor.ts')).monitor,
  },
  {
    words: ['operator', 'api'],
    summary: 'Send any request to the API.',
    load: async () => (await import('./operator/api.ts')).operatorApi,
  },
  {
    words: ['operator', 'debug'],
    summary: 'Make an archive for the diagnosis of a cluster.',
    load: async () => (await import('./operator/debug/debug.ts')).operatorDebug,
  },
  {
    words: ['operator', 'engine', 'migrate'],
    summary: 'Move the state between the data directory and etcd.',
    load: async () => (await import('./operator/engine-migrate.ts')).engineMigrate,
  },
  {
    words: ['operator', 'keyring', 'list'],
    summary: 'List the keys of the keyring.',
    load: async () => (await import('./operator/keyring.ts')).keyringList,
  },
  {
    words: ['operator', 'keyring', 'rotate'],
    summary: 'Rotate the key that seals secrets.',
    load: async () => (await import('./operator/keyring.ts')).keyringRotate,
  },
  {
    words: ['operator', 'leader', 'step-down'],
    summary: 'Give the leadership to another server.',
    load: async () => (await import('./operator/leader.ts')).leaderStepDown,
  },
  {
    words: ['operator', 'metrics'],
    summary: 'Print the metrics of a server, or of a node.',
    load: async () => (await import('./operator/metrics.ts')).operatorMetrics,
  },
  {
    words: ['operator', 'recover'],
    summary: 'Recover servers after their log in etcd has diverged.',
    load: async () => (await import('./operator/recover.ts')).operatorRecover,
  },
  {
    words: ['operator', 'scheduler', 'get-config'],
    summary: 'Show the scheduler configuration.',
    load: async () => (await import('./operator/scheduler.ts')).schedulerGetConfig,
  },
  {
    words: ['operator', 'scheduler', 'set-config'],
    summary: 'Change the scheduler configuration.',
    load: async () => (await import('./operator/scheduler.ts')).schedulerSetConfig,
  },
  {
    words: ['operator', 'snapshot', 'inspect'],
    summary: 'Check the file of a snapshot, and show its contents.',
    load: async () => (await import('./operator/snapshot-inspect.ts')).snapshotInspect,
  },
  {
    words: ['operator', 'snapshot', 'restore'],
    summary: 'Replace the whole state by that of a snapshot.',
    load: async () => (await import('./operator/snapshot-restore.ts')).snapshotRestore,
  },
  {
    words: ['operator', 'snapshot', 'restored'],
    summary: 'Show the last restore, and the allocations that nodes keep after it.',
    load: async () => (await import('./operator/snapshot-restore.ts')).snapshotRestored,
  },
  {
    words: ['operator', 'snapshot', 'save'],
    summary: 'Save a snapshot of the whole state to a file.',
    load: async () => (await import('./operator/snapshot-save.ts')).snapshotSave,
  },
  {
    words: ['operator', 'store', 'check'],
    summary: 'Read the whole store of a data directory, and show every fault.',
    load: async () => (await import('./operator/store-check.ts')).storeCheck,
  },
  {
    words: ['operator', 'store', 'repair'],
    summary: 'Replace a damaged store by one with all that is legible.',
    load: async () => (await import('./operator/store-repair.ts')).storeRepair,
  },
  {
    words: ['operator', 'upgrade', 'finalize'],
    summary: 'Write the newest format now. The older program cannot return.',
    load: async () => (await import('./operator/upgrade.ts')).upgradeFinalize,
  },
  {
    words: ['operator', 'upgrade', 'hold'],
    summary: 'Hold the format of the state, so that the older program can return.',
    load: async () => (await import('./operator/upgrade.ts')).upgradeHold,
  },
  {
    words: ['operator', 'upgrade', 'status'],
    summary: 'Show the progress of an upgrade of the servers.',
    load: async () => (await import('./operator/upgrade.ts')).upgradeStatus,
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
