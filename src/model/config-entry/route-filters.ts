import { below, type Path, quote, type Report } from '../path.ts';
import {
  About,
  CountedNanoseconds,
  Flag,
  FullList,
  type Model,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { checkHeaderChanges } from './header-changes.ts';
import { HeaderModifiersSchema } from './proxy-fields.ts';
import { retryConditions } from './retry-conditions.ts';
import { checkTokenRequirements, TokenRequirements } from './token-requirements.ts';

const RetryFilterSchema = Type.Object(
  {
    NumRetries: About('Number of retries.', Whole({ minimum: 0, maximum: 2 ** 32 - 1 })),
    RetryOn: About('The failures that cause a retry.', FullList(Text()), {
      rules: `of ${retryConditions.map((condition) => `\`${condition}\``).join(', ')}`,
    }),
    RetryOnStatusCodes: About(
      'Status codes that cause a retry.',
      FullList(Whole({ minimum: 100, maximum: 599 })),
    ),
    RetryOnConnectFailure: About('Whether a failed connection is retried, too.', Flag()),
  },
  { title: 'RetryFilter' },
);

const timeout = (description: string) =>
  About(`${description} 0: the default of the proxy.`, CountedNanoseconds({ minimum: 0 }), {
    rules: 'read back as nanoseconds',
  });

/** Changes to requests. Source: docs/behaviour/gateways.md#filters-of-routes. */
const RouteFiltersSchema = Type.Object(
  {
    Headers: About('Changes to headers, in order.', FullList(HeaderModifiersSchema)),
    URLRewrite: About(
      'The replacement of the matched part of the path.',
      Nullable(Type.Object({ Path: About('The replacement.', Text()) }, { title: 'URLRewrite' })),
    ),
    RetryFilter: About(
      'The failures after which a request is retried.',
      Nullable(RetryFilterSchema),
    ),
    TimeoutFilter: About(
      'Timeouts of a request.',
      Nullable(
        Type.Object(
          {
            RequestTimeout: timeout('Timeout of the whole request.'),
            IdleTimeout: timeout('Timeout of an idle stream.'),
          },
          { title: 'TimeoutFilter' },
        ),
      ),
    ),
    JWT: TokenRequirements(),
  },
  { title: 'RouteFilters' },
);
type RouteFilters = Model<typeof RouteFiltersSchema>;

export const RouteFiltersField = () => About('Changes to requests.', Nullable(RouteFiltersSchema));

const ResponseFiltersSchema = Type.Object(
  { Headers: About('Changes to headers, in order.', FullList(HeaderModifiersSchema)) },
  { title: 'ResponseFilters' },
);
type ResponseFilters = Model<typeof ResponseFiltersSchema>;

export const ResponseFiltersField = () =>
  About('Changes to answers.', Nullable(ResponseFiltersSchema));

export function checkRouteFilters(filters: RouteFilters | null, path: Path, report: Report): void {
  if (filters === null) return;
  checkHeaders(filters, path, report);
  filters.RetryFilter?.RetryOn.forEach((condition, index) => {
    if (retryConditions.some((known) => known === condition)) return;
    const known = `must be one of ${retryConditions.join(', ')}, got ${quote(condition)}`;
    report(below(path, 'RetryFilter', 'RetryOn', index), known);
  });
  checkTokenRequirements(filters.JWT, below(path, 'JWT'), report);
}

export function checkResponseFilters(
  filters: ResponseFilters | null,
  path: Path,
  report: Report,
): void {
  if (filters !== null) checkHeaders(filters, path, report);
}

function checkHeaders({ Headers }: ResponseFilters, path: Path, report: Report): void {
  Headers.forEach((modifiers, index) => {
    checkHeaderChanges(modifiers, below(path, 'Headers', index), report);
  });
}
