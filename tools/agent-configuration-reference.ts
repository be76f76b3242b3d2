/**
 * Writes docs/reference/agent-configuration.md from the settings of the agent:
 * `node tools/run.mjs tools/agent-configuration-reference.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addedLists } from '../src/cli/agent/configuration.ts';
import { flagOf, flags } from '../src/cli/agent/flags.ts';
import { isReloadable } from '../src/cli/agent/reload-changes.ts';
import type { Check } from '../src/cli/agent/setting-checks.ts';
import { type SettingName, settings } from '../src/cli/agent/settings.ts';
import { variableOfSetting } from '../src/cli/agent/variables.ts';
import { type About, sections } from './agent-configuration-table.ts';

/** Where the page is, below the checkout. */
export const page = 'docs/reference/agent-configuration.md';
/** The file that the page shows. */
export const example = 'examples/agent/agent.hcl';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The text of the page. */
export const agentConfigurationReference = (): string =>
  `${beginning(readFileSync(join(root, example), 'utf8'))}\n${rules}\n${sections
    .map(({ title, rows }) => `### ${title}\n\n${columns}\n${rows.map(rowText).join('\n')}\n`)
    .join('\n')}`;

const columns = `| setting, flag, variable | default | reloaded | meaning |
|---|---|---|---|`;

function rowText([name, about]: readonly [SettingName, About]): string {
  const flag = flags.find(({ setting }) => setting === name) && `\`${flagOf(name)}\``;
  const variable = variableOfSetting(name);
  const given = [`\`${name}\``, flag, variable && `\`${variable}\``].filter(Boolean).join('<br>');
  const shown = about.default === undefined ? '' : `\`${JSON.stringify(about.default)}\``;
  const isReloaded = isReloadable(name) ? 'yes' : '';
  const more = addedLists.has(name) ? ' Later files add to the list.' : '';
  const meaning = `${about.meaning} Value: ${valueText(name)}.${more}`;
  return `| ${given} | ${shown || (about.without ?? '')} | ${isReloaded} | ${meaning} |`;
}

/** The words of the refusal of any other value: `true or false`. */
const valueText = (name: SettingName): string =>
  ((settings[name] as Check).fault(null) ?? '').replace(/^must (be )?/, '').replaceAll('|', '\\|');

const beginning = (exampleText: string): string => `# The configuration of the agent

An agent is configured by flags, by environment variables, and by files in HCL or JSON. This page is written from the
code (\`npm run docs\`), and a test compares the two and runs the commands. \`/etc/roster/agent.hcl\`:

\`\`\`hcl
${exampleText.trimEnd()}
\`\`\`

This is [${example}](../../${example}). A file in JSON has an object for each block, such as
\`{ "node": { "meta": { "rack": "r1" } } }\`. Values in HCL are fixed: there are no variables and no functions.
`;

const rules = `## Precedence

1. Flags: \`--data-dir /var/lib/roster\`.
2. Environment variables, one for each flag: \`ROSTER_AGENT_DATA_DIR=/var/lib/roster\`. The variable of a flag without a value
   is \`true\` or \`false\`; lists and repeated flags are separated by commas. \`ROSTER_ROOT_TOKEN\`,
   \`ROSTER_ROOT_KEY\` and \`OTEL_EXPORTER_OTLP_ENDPOINT\` have names of their own. An empty variable counts as absent, and an unknown variable \`ROSTER_AGENT_…\` is refused.
3. Files and directories of \`--config\`, which may be repeated (or \`ROSTER_AGENT_CONFIG\`, separated by commas).

A flag or a variable replaces the setting of the files as a whole, lists and maps too.

## Files

Settings of one site, in \`site.json\`:

\`\`\`json
{ "node": { "name": "alpha", "meta": { "rack": "r2" } } }
\`\`\`

The agent reads a directory and this file, in a terminal of its own:

\`\`\`sh
roster agent -config /etc/roster -config site.json
\`\`\`

- Files are read in the order given. Of a directory, the files that end in \`.hcl\` or \`.json\` are read, in the order of
  their names (\`10-base.hcl\` before \`20-site.json\`); its directories and hidden files are not.
- A file with another ending is read as JSON if it begins with \`{\` or \`[\`, otherwise as HCL.
- A later file wins. A text, a number, \`true\` or \`false\` replaces the earlier value, even if it is \`false\`, 0 or empty:
  unlike in Nomad, where empty values are skipped, a later file can switch off what an earlier file switched on.
- Maps (\`node.meta\`, \`node.host_volume\`, \`isolation.chroot\`) are merged, key by key.
- Lists of addresses, names and jobs are appended, without repetitions: ${[...addedLists].map((name) => `\`${name}\``).join(', ')}.
  Lists of permissions (\`drivers.allow\`, \`docker.allow_caps\`, \`isolation.allow_capabilities\`,
  \`node.artifacts.sources\`) are replaced, so that a later file can take a permission away.
- Paths are relative to the working directory of the agent, but those of \`run\` to the file that names them.
- A file with a fault is refused, and the agent does not start: an unknown setting (with the name that was probably
  meant), a value of another kind, a setting given twice in one file, settings that contradict each other. All faults of all
  files are printed at once.

## Validate

\`\`\`sh
roster agent validate /etc/roster
roster agent validate -json /etc/roster/agent.hcl site.json
\`\`\`

The command reads files as the agent does, and prints every fault with file, line and column (HCL), or with file and path
(JSON). The exit code is 0 without faults and 1 with faults. With \`-json\` it prints \`{ "Faults": [{ "File", "Line",
"Column", "Setting", "Message" }] }\`, with line and column also for JSON. A fault of several settings together has only a
message, which names their places.

Flags and variables are not looked at, so the data directory may be missing. Certificates, tokens and keys are not read, so a
configuration can be validated on another machine; job files of \`run\` are.

## Reload

An agent with configuration files or TLS reads its files again when it gets SIGHUP. An agent without both ends at SIGHUP,
as at SIGTERM, so that an agent in a terminal ends with it. An agent also reads them on request, by a token with
\`agent:write\`. With \`-node-id\` (\`node_id\`) the server passes the request on to a node, which has no port of its own:

\`\`\`sh
roster agent reload
roster agent reload -node-id alpha
curl -X PUT -H "Authorization: Bearer $ROSTER_TOKEN" "$ROSTER_ADDR/v1/agent/reload"
\`\`\`

The answer is \`{ "Changed": ["node.meta"], "NeedRestart": ["http"] }\`: the settings that the agent has taken, and the settings
that need a restart. The latter are named at every reload until the agent is started again, or until the files have the old
value again. SIGHUP puts both into the log. Flags and variables stay as they were at the start. Without a node, the request
reaches the agent that it is sent to, and no other server of the cluster. \`GET /v1/agent/self\` has the settings that are in
use in \`Config\`.

- A reload with a fault changes nothing. The answer is 409 \`configuration-faulty\` with all faults; after SIGHUP they are in
  the log.
- The audit log has an entry for each reload, with both lists. For SIGHUP the caller is of the kind \`signal\`.
- Certificates are read again even if no setting has changed: new connections get the new certificate
  ([TLS](../guides/tls.md#renew-it)). So does a node alone with \`ca_cert\`, \`client_cert\` and \`client_key\`. Whether TLS is
  spoken at all, and \`tls.verify_client\`, need a restart.
- \`node.meta\`, \`node.class\` and \`drivers.allow\` are those of the node for the scheduler when the answer comes, unless no
  server takes them within 10 s, and blocked evaluations are tried again. Running tasks go on, also tasks of a driver that is
  no longer allowed: such a task is not started again after it has ended.
- The level of the log changes for the whole process, its readers included.
- Other files that settings name (tokens, keys, passwords, the authority of peerings) are read at the start.

## Settings

A setting with a dot is in a block: \`tls.cert_file\` is \`cert_file\` in \`tls { … }\`. Durations are texts such as \`"90m"\`. Reloaded
settings are those that [a reload](#reload) changes; all others need a restart.
`;

if (import.meta.main) writeFileSync(join(root, page), agentConfigurationReference());
