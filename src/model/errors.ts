/**
 * The catalogue of refusals (docs/contract/http.md#refusals). Only the catalogue decides the HTTP status of
 * an error. A bug is an assertion and never in the catalogue.
 *
 * A sentence is a template: `{name}` is filled from the parameters, and the types demand each of them.
 */
import { catalogue } from './error-catalogue.ts';
import { limits } from './limits.ts';

export { catalogue };

/** A fault of a body: its place (JSON pointer, RFC 6901) and a sentence with the dotted path. */
export interface Fault {
  readonly pointer: string;
  readonly message: string;
  /** The place in a text in the body; both are 1-based. */
  readonly line?: number;
  readonly column?: number;
}

export type ErrorCode = keyof typeof catalogue;

type Names<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
/** The parameters of a code's sentence. */
export type ErrorParameters<C extends ErrorCode> = {
  readonly [N in Names<(typeof catalogue)[C]['sentence']>]: string | number;
};

/** A refusal of the catalogue. Make it with {@link refusal} or {@link invalid}. */
export class RosterError extends Error {
  override readonly name = 'RosterError';
  readonly code: ErrorCode;
  readonly status: number;
  /** The sentence that the caller reads; also the `message`. */
  readonly detail: string;
  readonly errors: readonly Fault[];
  /** The record in conflict, as far as the caller may read it. */
  readonly conflict: object | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    errors: readonly Fault[] = [],
    conflict: object | undefined = undefined,
  ) {
    super(detail);
    this.code = code;
    this.status = catalogue[code].status;
    this.detail = detail;
    this.errors = errors;
    this.conflict = conflict;
  }
}

/** The error of a code with its sentence filled: `throw refusal('job-not-found', { job, namespace })`. */
export function refusal<C extends ErrorCode>(
  code: C,
  ...[parameters]: [Names<(typeof catalogue)[C]['sentence']>] extends [never]
    ? []
    : [ErrorParameters<C>]
): RosterError {
  const filled = fill(catalogue[code].sentence, (parameters ?? {}) as Record<string, unknown>);
  return new RosterError(code, filled);
}

/**
 * The faults of a body’s form, then the other faults of its content. A fault of the content near a fault of
 * the form is left out: a mistyped field counts as absent, which alone may cause it.
 */
export function withKnown(known: readonly Fault[], others: readonly Fault[]): readonly Fault[] {
  if (known.length === 0) return others;
  const isTold = ({ pointer }: Fault) =>
    known.some(
      (one) =>
        pointer === one.pointer ||
        pointer.startsWith(`${one.pointer}/`) ||
        (pointer !== '' && one.pointer.startsWith(`${pointer}/`)),
    );
  const all = [...known, ...others.filter((fault) => !isTold(fault))];
  return all.slice(0, limits.fault.listedMax);
}

/**
 * The error for a body, a job, a plan or a configuration with faults; `faults` is not empty. All are counted, and the
 * first are listed.
 */
export function invalid(
  code:
    | ('invalid-body' | 'invalid-job' | 'invalid-job-file' | 'job-not-allowed' | 'plan-outdated')
    | 'configuration-faulty',
  faults: readonly Fault[],
): RosterError {
  const noun = code === 'plan-outdated' ? 'difference' : 'fault';
  const first = faults[0]?.message ?? '';
  const told =
    faults.length === 1 ? `1 ${noun}: ${first}` : `${faults.length} ${noun}s; the first: ${first}`;
  const sentence = fill(catalogue[code].sentence, { faults: told });
  return new RosterError(code, sentence, faults.slice(0, limits.fault.listedMax));
}

/** The error for an update that would change fields that cannot change; `fields` is not empty. */
export function unchangeable(noun: string, fields: readonly string[]): RosterError {
  const { code, detail } = refusal('immutable-field', { field: fields.join(' and '), noun });
  const faults = fields.map((field) => ({
    pointer: `/${field}`,
    message: `${field} of the ${noun} cannot be changed`,
  }));
  return new RosterError(code, detail, faults);
}

/** The last sentence of the error, if a permission would be enough. */
export const wayToOverride =
  'A caller with namespace:policy-override can override it with PolicyOverride.';

/**
 * The error for a job that violates job policies. `verdicts` tell the violation of each policy; with `isSoft`
 * a permission would be enough.
 */
export function violated(job: string, verdicts: readonly string[], isSoft: boolean): RosterError {
  const { sentence } = catalogue['job-policy-violated'];
  const { describedMax } = limits.jobPolicy;
  const more = verdicts.length > describedMax ? [`and ${verdicts.length - describedMax} more`] : [];
  const detail = fill(sentence, {
    job,
    count: verdicts.length === 1 ? 'a job policy' : `${verdicts.length} job policies`,
    verdicts: [...verdicts.slice(0, describedMax), ...more].join('; '),
    way: isSoft ? ` ${wayToOverride}` : '',
  });
  const listed = verdicts.slice(0, limits.fault.listedMax);
  const faults = listed.map((message) => ({ pointer: '', message }));
  return new RosterError('job-policy-violated', detail, faults);
}

/** The body of a refusal: `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly errors?: readonly Fault[];
  /** The record that failed the guard. */
  readonly conflict?: object;
}

export function problemOf(error: RosterError): Problem {
  const { code, status, detail, errors, conflict } = error;
  const problem = {
    type: `urn:roster:error:${code}`,
    title: catalogue[code].title,
    status,
    detail,
    code,
    ...(conflict !== undefined && { conflict }),
  };
  return errors.length === 0 ? problem : { ...problem, errors };
}

/** Seconds for `Retry-After`; `undefined` if trying again does not help. */
export function retryAfterSeconds(code: ErrorCode): number | undefined {
  const { status } = catalogue[code];
  return status === 429 || status === 503 ? 1 : undefined;
}

function fill(sentence: string, parameters: Record<string, unknown>): string {
  return (
    sentence
      .replace(/\{(\w+)\}/g, (_, name: string) => String(parameters[name]))
      // The last parameter may end with its own full stop.
      .replace(/([.?!])\.$/, '$1')
  );
}
