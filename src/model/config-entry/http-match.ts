import { below, type Path, quote, type Report } from '../path.ts';
import { About, Choice, FullList, type Model, Nullable, Text, Type } from '../schema.ts';
import { isPattern } from '../text-rules.ts';
import { isHeaderName } from './header-changes.ts';

const methods = [
  '',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
] as const;

const pathMatches = ['exact', 'prefix', 'regex'] as const;
const headerMatches = ['exact', 'prefix', 'suffix', 'present', 'regex'] as const;
const queryMatches = ['exact', 'present', 'regex'] as const;

const value = { rules: 'given unless `Match` is `present`; a pattern of RE2 for `regex`' };

/** Conditions of a request. Source: docs/behaviour/gateways.md#http-routes. */
export const HttpMatchSchema = Type.Object(
  {
    Path: About(
      'The path of the request.',
      Nullable(
        Type.Object(
          {
            Match: About('How the path is compared.', Choice(pathMatches, 'prefix')),
            Value: About('The value to compare with.', Text({ default: '/' }), {
              rules: 'begins with `/`, or is a pattern of RE2 for `regex`',
            }),
          },
          { title: 'PathMatch' },
        ),
      ),
      { absent: 'the prefix `/`' },
    ),
    Method: About('The method of the request; empty: any.', Choice(methods)),
    Headers: About(
      'Headers of the request: all have to match.',
      FullList(
        Type.Object(
          {
            Match: About('How the header is compared.', Choice(headerMatches, 'exact')),
            Name: About('Name of the header.', Text(), { rules: 'required' }),
            Value: About('The value to compare with.', Text(), value),
          },
          { title: 'HeaderMatch' },
        ),
      ),
    ),
    Query: About(
      'Parameters of the query: all have to match.',
      FullList(
        Type.Object(
          {
            Match: About('How the parameter is compared.', Choice(queryMatches, 'exact')),
            Name: About('Name of the parameter.', Text(), { rules: 'required' }),
            Value: About('The value to compare with.', Text(), value),
          },
          { title: 'QueryMatch' },
        ),
      ),
    ),
  },
  { title: 'HTTPMatch' },
);
export type HttpMatch = Model<typeof HttpMatchSchema>;

export const everyPath = { Match: 'prefix', Value: '/' } as const;

/** A rule without matches applies to every request. */
export const matchOfEverything: HttpMatch = { Path: everyPath, Method: '', Headers: [], Query: [] };

export const normalizeMatch = (match: HttpMatch): HttpMatch => ({
  ...match,
  Path: match.Path ?? everyPath,
  Method: match.Method.toUpperCase() as HttpMatch['Method'],
});

export function checkMatch(match: HttpMatch, path: Path, report: Report): void {
  if (match.Path !== null) {
    const at = below(path, 'Path', 'Value');
    const { Match, Value } = match.Path;
    if (Match === 'regex') checkPattern(Value, at, report);
    else if (!Value.startsWith('/')) report(at, `must begin with "/", got ${quote(Value)}`);
  }
  match.Headers.forEach((header, index) => {
    const at = below(path, 'Headers', index);
    if (header.Name === '') report(below(at, 'Name'), 'is required');
    else if (!isHeaderName(header.Name)) {
      report(below(at, 'Name'), `is no name of a header: ${quote(header.Name)}`);
    }
    checkComparison(header, at, report);
  });
  match.Query.forEach((parameter, index) => {
    const at = below(path, 'Query', index);
    if (parameter.Name === '') report(below(at, 'Name'), 'is required');
    checkComparison(parameter, at, report);
  });
}

function checkComparison(
  { Match, Value }: { readonly Match: string; readonly Value: string },
  path: Path,
  report: Report,
): void {
  const at = below(path, 'Value');
  if (Match === 'present') {
    if (Value !== '') report(at, 'must not be given where Match is "present"');
  } else if (Value === '') report(at, `is required where Match is ${quote(Match)}`);
  else if (Match === 'regex') checkPattern(Value, at, report);
}

function checkPattern(text: string, path: Path, report: Report): void {
  if (text === '' || !isPattern(text)) report(path, `is not a pattern of RE2: ${quote(text)}`);
}
