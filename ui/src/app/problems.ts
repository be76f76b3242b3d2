import type { Problem } from '../../../src/model/errors.ts';

export type { Problem };

/** A problem as far as the page knows it: refusals have all fields, a lost connection has a sentence alone. */
export type ShownProblem = Pick<Problem, 'title' | 'detail'> &
  Partial<Pick<Problem, 'status' | 'code' | 'errors'>>;

interface RefusalFields {
  readonly name: string;
  readonly status: number;
  readonly code: Problem['code'];
  readonly detail: string;
  readonly errors: Problem['errors'];
}

/** Thrown by a page when an answer means that an act was not done. */
export class PageRefusal extends Error {
  readonly problem: ShownProblem;

  constructor(problem: ShownProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** The problem of what a call of the client, or a page, threw. */
export function problemOf(error: unknown): ShownProblem {
  if (error instanceof PageRefusal) return error.problem;
  if (error instanceof Error && error.name === 'ApiError') {
    const { status, code, detail, errors } = error as unknown as RefusalFields;
    return {
      title: titlesOfCodes[code] ?? titles[status] ?? 'The server refused this',
      status,
      code,
      detail,
      ...(errors !== undefined && { errors }),
    };
  }
  if (error instanceof Error && error.name === 'ConnectionError') {
    return { title: 'The server did not answer', detail: error.message };
  }
  return {
    title: 'The page made a mistake',
    detail: error instanceof Error ? error.message : String(error),
  };
}

const titles: Readonly<Record<number, string>> = {
  400: 'Something in the request is wrong',
  401: 'Access control is off',
  403: 'The token may not do this',
  404: 'Not found',
  409: 'Something else has changed meanwhile',
  429: 'Too many requests',
  503: 'The server cannot do this now',
};

const titlesOfCodes: Partial<Record<Problem['code'], string>> = {
  'no-leader': 'No server leads',
  'outcome-unknown': 'Nobody knows whether this was done',
};

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'detail' in value;
}
