import type { Method, TransportAnswer } from '../../sdk/client.ts';
import { type Context, defaultAddress } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { oneLine } from '../render/text.ts';
import { readBytes } from '../text-file.ts';

const methods: readonly Method[] = ['GET', 'PUT', 'POST', 'DELETE'];

export const operatorApi: ClientCommand = {
  words: ['operator', 'api'],
  summary: 'Send any request to the API.',
  definition: {
    arguments: [
      {
        name: 'PATH',
        kind: 'word',
        isRequired: true,
        description: 'The path with its query, such as /v1/jobs?prefix=web; /v1 may be left out.',
      },
    ],
    options: [
      {
        name: 'method',
        letter: 'X',
        value: 'METHOD',
        choices: methods,
        description: 'The method (GET, or PUT with a body).',
      },
      {
        name: 'header',
        letter: 'H',
        value: 'NAME: VALUE',
        isRepeatable: true,
        description: 'Another header; may be repeated.',
      },
      {
        name: 'data',
        letter: 'd',
        value: 'BODY',
        description: 'The body: a text, @FILE, or - for standard input.',
      },
      { name: 'filter', value: 'EXPRESSION', description: 'The parameter filter of a list.' },
      { name: 'include', letter: 'i', description: 'Print status and headers before the body.' },
      { name: 'verbose', letter: 'v', description: 'Print request and answer to standard error.' },
      { name: 'dryrun', description: 'Send nothing; print a curl command, without the token.' },
    ],
    details: `The token, the namespace and the certificates are those of every command. The body of the answer is printed as it
came. The exit code is 1 if the status is 400 or above.

Examples:
  roster operator api /v1/agent/self
  roster operator api -filter 'Status == "running"' jobs
  roster operator api -X PUT -d @node-pool.json /v1/node/pools
  roster operator api -dryrun -X DELETE /v1/job/web`,
  },
  async run(context, [given], options) {
    const request = await requestOf(context, given!, options);
    if (options.flag('dryrun')) {
      await context.environment.stdout.write(`${curlCommand(context, request, options)}\n`);
      return exitCodes.ok;
    }
    return context.untilInterrupted(async (signal) => {
      const { method, path, headers, body } = request;
      if (options.flag('verbose')) {
        await context.notes.line(`> ${method} ${path}`);
        await noteHeaders(context, '>', headers);
      }
      const answer = await context.client.send({ method, path, headers, body, signal });
      if (options.flag('verbose')) {
        await context.notes.line(`< ${answer.status}`);
        await noteHeaders(context, '<', answer.headers);
      }
      await printAnswer(context, answer, options.flag('include'));
      return answer.status < 400 ? exitCodes.ok : exitCodes.error;
    });
  },
};

interface ApiRequest {
  readonly method: Method;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Where the body came from, if it is no text of the command line. */
  readonly source: string | undefined;
}

/** @throws CliError */
async function requestOf(context: Context, given: string, options: Options): Promise<ApiRequest> {
  const data = options.text('data');
  const isFile = data === '-' || data?.startsWith('@') === true;
  const source = isFile ? data.replace(/^@/, '') : undefined;
  const body =
    source === undefined ? data : Buffer.from(await readBytes(context, source, 'body')).toString();
  const word = options.text('method')?.toUpperCase();
  const method = methods.find((one) => one === word);
  if (word !== undefined && method === undefined) {
    throw new CliError(`--method must be one of ${methods.join(', ')}, got "${oneLine(word)}".`);
  }
  const typed = body === undefined ? [] : [['content-type', 'application/json'] as const];
  return {
    method: method ?? (body === undefined ? 'GET' : 'PUT'),
    path: pathOf(given, options.text('filter')),
    headers: Object.fromEntries([...typed, ...options.list('header').map(headerOf)]),
    body,
    source,
  };
}

function pathOf(given: string, filter: string | undefined): string {
  const rooted = given.startsWith('/') ? given : `/${given}`;
  const path = /^\/(v1\/|ui\/|\.well-known\/)/.test(rooted) ? rooted : `/v1${rooted}`;
  if (filter === undefined) return path;
  return `${path}${path.includes('?') ? '&' : '?'}filter=${encodeURIComponent(filter)}`;
}

/** @throws CliError */
function headerOf(text: string): readonly [name: string, value: string] {
  const found = /^([\w!#$%&'*+.^`|~-]+):\s*([^\r\n]*)$/.exec(text);
  if (found === null) {
    throw new CliError(`--header must be "NAME: VALUE", got "${oneLine(text)}".`);
  }
  return [found[1]!.toLowerCase(), found[2]!];
}

/** Headers of the token, whose values are not shown. */
const isSecret = (name: string): boolean => /token|authorization|cookie/i.test(name);

async function noteHeaders(
  { notes }: Context,
  mark: '<' | '>',
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, value] of Object.entries(headers)) {
    await notes.line(`${mark} ${name}: ${isSecret(name) ? '[secret]' : oneLine(value)}`);
  }
}

async function printAnswer(
  { environment: { stdout } }: Context,
  { status, headers, body }: TransportAnswer,
  includesHead: boolean,
): Promise<void> {
  if (includesHead) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    await stdout.write(`${status}\n${lines.join('')}\n`);
  }
  let last: number | undefined;
  for await (const part of body) {
    await stdout.write(part);
    last = part.at(-1) ?? last;
  }
  // The prompt of a terminal begins a line.
  if (stdout.isTerminal && last !== undefined && last !== newline) await stdout.write('\n');
}

const newline = 0x0a;

/** The same request for curl. It takes the token from the environment. */
function curlCommand(
  { environment, namespace, partition }: Context,
  request: ApiRequest,
  options: Options,
): string {
  const { env } = environment;
  const { method, path, headers, body, source } = request;
  const address = (options.text('address') ?? (env.ROSTER_ADDR || defaultAddress)).split(',')[0]!;
  const query = Object.entries({ namespace, partition }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  const mark = path.includes('?') ? '&' : '?';
  const url = `${address.trim().replace(/\/+$/, '')}${path}${query.length === 0 ? '' : mark}${query.join('&')}`;
  const files = [
    ['--cacert', options.text('caCert') ?? env.ROSTER_CACERT],
    ['--cert', options.text('clientCert') ?? env.ROSTER_CLIENT_CERT],
    ['--key', options.text('clientKey') ?? env.ROSTER_CLIENT_KEY],
  ].flatMap(([flag, path]) => (path ? [`${flag} ${quoted(path)}`] : []));
  const told = Object.entries(headers).map(
    ([name, value]) => `-H ${quoted(`${name}: ${isSecret(name) ? '[secret]' : value}`)}`,
  );
  const data = source === undefined ? body : `@${source}`;
  return [
    'curl',
    `-X ${method}`,
    ...files,
    '-H "X-Registry-Token: $ROSTER_TOKEN"',
    ...told,
    ...(data === undefined ? [] : [`--data-binary ${quoted(data)}`]),
    quoted(url),
  ].join(' ');
}

/** A word for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
