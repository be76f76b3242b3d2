import { catalogue, wayToOverride } from '../model/errors.ts';
import { ApiError, ConnectionError, SessionError } from '../sdk/errors.ts';
import { oneLine } from './render/text.ts';

/** Exit codes; `roster help` lists them. */
export const exitCodes = {
  ok: 0,
  error: 1,
  /** The job was registered, but could not be placed, started or deployed completely. */
  placementFailed: 2,
  interrupted: 130,
} as const;

/** An error that the user can correct: a message, and advice. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly hint: string | undefined;
  /** Listed under the message, a line for each. */
  readonly faults: readonly string[];
  /** The refusal that the message explains, for programs. */
  readonly refusal: Refusal | undefined;

  constructor(
    message: string,
    options: { hint?: string; faults?: readonly string[]; refusal?: Refusal } = {},
  ) {
    super(message);
    this.hint = options.hint;
    this.faults = options.faults ?? [];
    this.refusal = options.refusal;
  }
}

/** An error for programs. */
export interface Refusal {
  /** A code of the API's catalogue, or of `commandCodes`. */
  readonly code: string;
  /** The HTTP status of the refusal; null if no server has answered. */
  readonly status: number | null;
  /** The faults by their places, as far as these are known. */
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

/** The refusal of an error of the API, without its text. */
export const refusalOf = ({ code, status, errors }: ApiError): Refusal => ({
  code,
  status,
  errors,
});

/** Thrown after Ctrl-C, or after the output was closed. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface Explained extends Refusal {
  readonly message: string;
  readonly faults: readonly string[];
  readonly hint: string | undefined;
}

/** The codes of errors that no server has answered with, in JSON. */
export const commandCodes = {
  /** The words do not fit the grammar of the command line. */
  usage: 'usage',
  /** The command itself refuses: a file cannot be read, an id fits nothing. */
  command: 'command-failed',
  /** No server can be reached. */
  connection: 'unreachable',
  /** A connection to a task or to its files ended. */
  session: 'session-failed',
} as const;

/** An error in words for the user; `undefined` for a bug. */
export function explainError(error: unknown): Explained | undefined {
  if (error instanceof CliError) {
    const { message, faults, hint, refusal } = error;
    return { ...ofCommand(commandCodes.command, message, { faults, hint }), ...refusal };
  }
  if (error instanceof ConnectionError) {
    return ofCommand(commandCodes.connection, oneLine(error.message));
  }
  if (error instanceof SessionError) {
    const message = oneLine(error.message);
    const isDenied = message.startsWith(catalogue['permission-denied'].title);
    return ofCommand(commandCodes.session, message, isDenied ? { hint: permissionHint } : {});
  }
  if (!(error instanceof ApiError)) return undefined;
  const detail = oneLine(error.detail);
  const told = error.errors.map(({ pointer, message }) => {
    const place = pointer.startsWith('/') ? dotted(pointer) : pointer;
    return oneLine(message.includes(place) ? message : `${place}: ${message}`);
  });
  // A fault that is the whole sentence is told once.
  const faults = told.filter((fault) => `${fault}.` !== detail);
  // The list of faults repeats the first fault, and names every policy and entry.
  const message = faults.length > 0 ? detail.replace(listedBelow, ':') : detail;
  return { message, faults, hint: hintFor(error), ...refusalOf(error) };
}

/** An error that no server has answered with. */
export const ofCommand = (
  code: string,
  message: string,
  {
    faults = [],
    hint,
  }: { readonly faults?: readonly string[]; readonly hint?: string | undefined } = {},
): Explained => ({
  code,
  message,
  faults,
  hint,
  status: null,
  errors: faults.map((fault) => ({ pointer: '', message: fault })),
});

const listedBelow =
  /; the first: .*$|(?<= (has 1 fault|: 1 difference)): .*$|(?<= violates (a job policy|\d+ job policies)): .*$|(?<=^The entry \S+ ".*" is not (written|deleted)): .*$/;

/** Turns `/Job/TaskGroups/0/Name` into `Job.TaskGroups[0].Name`. */
function dotted(pointer: string): string {
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => {
      if (/^\d+$/.test(part)) return `${path}[${part}]`;
      return path === '' ? part : `${path}.${part}`;
    }, '');
}

const permissionHint = 'Set ROSTER_TOKEN (or --token) to the secret of a token that may do this.';

function hintFor({ code, detail, retryAfterSeconds }: ApiError): string | undefined {
  switch (code) {
    case 'token-not-found':
      return 'Check ROSTER_TOKEN or --token.';
    case 'permission-denied':
      return permissionHint;
    case 'namespace-not-found':
      return 'Check ROSTER_NAMESPACE or --namespace.';
    case 'job-index-conflict':
    case 'job-exists':
      return 'Look at the job with "roster job inspect" and try again with its JobModifyIndex.';
    case 'variable-conflict':
      return 'Read the variable again, with "roster var get"; --force replaces the stored variable.';
    case 'job-policy-violated':
      return detail.endsWith(wayToOverride)
        ? 'A token with namespace:policy-override may override it with --policy-override.'
        : undefined;
    case 'plan-outdated':
    case 'plan-not-found':
      return 'Make another plan with "roster job plan".';
    case 'node-unreachable':
      return '"roster node status" shows which nodes are up.';
    case 'peering-token-refused':
      return 'Make a new token on the other cluster, with "roster peering generate-token".';
    case 'peering-conflict':
      return '"roster peering list" shows the names that are taken.';
    case 'peer-unreachable':
      return 'Check that a server of the other cluster runs and is reached from here. The token is not used up, unless its answer was lost.';
    case 'writes-closed':
      return 'The agent takes writes again after a restart, once the reason is gone.';
    case 'internal-error':
      return undefined;
    default:
      return retryAfterSeconds === undefined
        ? undefined
        : `Try again in ${retryAfterSeconds} second${retryAfterSeconds === 1 ? '' : 's'}.`;
  }
}
