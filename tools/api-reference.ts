/**
 * Writes docs/reference/api.md, the list of requests, from the contract:
 * `node tools/run.mjs tools/api-reference.ts`.
 */
import { globSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Endpoint } from '../src/contract/endpoint.ts';
import { describeNeeds } from '../src/contract/needs.ts';

/** Where the page is, below the checkout. */
export const page = 'docs/reference/api.md';

const contract = fileURLToPath(new URL('../src/contract', import.meta.url));

/** Every endpoint of the contract, in the order of paths. */
async function endpointsOf(): Promise<readonly Endpoint[]> {
  const files = globSync('*.ts', { cwd: contract, exclude: ['*.test.ts'] }).sort();
  const modules = await Promise.all(files.map((file) => import(`${contract}/${file}`)));
  const tables = modules.flatMap((module) =>
    Object.entries(module).filter(([name]) => name.endsWith('Endpoints')),
  );
  return tables
    .flatMap(([, table]) => Object.values(table as Readonly<Record<string, Endpoint>>))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** The text of the page. */
export async function apiReference(): Promise<string> {
  const sections = [...Map.groupBy(await endpointsOf(), ({ noun }) => noun)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return `${beginning}
${sections.map(([noun]) => `- [${noun}](#${anchorOf(noun)})`).join('\n')}

${sections.map(([noun, list]) => sectionOf(noun, list)).join('\n')}`;
}

const beginning = `# The HTTP API

Every request of the API, with the permission that it needs. This page is written from the contract (\`npm run docs\`), and
a test compares the two. The API listens on \`http://127.0.0.1:4720\` unless the agent is told otherwise, and every command and every
page of the web interface uses it.

[The contract](../contract/http.md) has the rules of all requests: the [token](../contract/http.md#the-token),
[refusals](../contract/http.md#refusals), [blocking queries](../contract/http.md#blocking-queries),
[lists](../contract/http.md#lists), [consistency](../contract/http.md#consistency).

\`\`\`sh
curl -s -H "Authorization: Bearer $ROSTER_TOKEN" $ROSTER_ADDR/v1/jobs
roster operator api /v1/jobs
\`\`\`

Each server serves the document of the API in OpenAPI 3.1, with the schemas of all bodies and answers and an example for
each, for generators of clients:

\`\`\`sh
curl -s "$ROSTER_ADDR/v1/openapi.json" > openapi.json
\`\`\`

In programs of TypeScript and JavaScript, \`roster/sdk\` [calls each request by its name](../guides/library.md). A path
parameter with \`+\` may contain slashes. **waits**: a blocking query. **socket**: a WebSocket.
`;

const anchorOf = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

function sectionOf(noun: string, list: readonly Endpoint[]): string {
  return `## ${noun}

| Request | Summary | Needs |
|---|---|---|
${list.map(rowOf).join('\n')}
`;
}

function rowOf({ methods, path, summary, kind, blocking, query, permission }: Endpoint): string {
  const marks = [blocking === true ? ' **waits**' : '', kind === 'socket' ? ' **socket**' : ''];
  const own = Object.keys(query ?? {}).map((name) => `\`${name}\``);
  const asked = own.length === 0 ? '' : `<br>Query: ${own.join(', ')}`;
  const about = `${cell(summary)}.${marks.join('')}${asked}`;
  return `| \`${methods.join(', ')}\` \`${path}\` | ${about} | ${cell(describeNeeds(permission))} |`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('*', '\\*');

if (import.meta.main) {
  writeFileSync(fileURLToPath(new URL(`../${page}`, import.meta.url)), await apiReference());
  console.log(`wrote ${page}`);
}
