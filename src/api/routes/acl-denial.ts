import { aclDecisionEndpoints as contract, ownAccessor } from '../../contract/acl-decision.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import type { Denials, NotedDenial } from '../denials.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveList } from '../serve.ts';

type Given = InputOf<typeof contract.denials>;

/** Source: docs/behaviour/access-control.md#denied-requests. */
export const aclDenialRoutes = (denials: Denials): Route[] =>
  serveList(contract.denials, {
    rows: (_input, { from, reverse }) => {
      const newest = denials.list();
      const all = reverse ? newest.toReversed() : newest;
      const start = from?.[0];
      if (start === undefined) return all;
      const isAhead = ({ ID }: NotedDenial) =>
        reverse ? Number(ID) < Number(start) : Number(ID) > Number(start);
      return all.filter((denial) => !isAhead(denial));
    },
    keyOf: ({ ID }: NotedDenial) => [ID],
    matches: (denial, input) => isAsked(denial, input) && isSeen(denial, input),
    present: ({ home: _, ...denial }) => denial,
  });

const isAsked = ({ AccessorID }: NotedDenial, { query }: Given): boolean =>
  query.accessor === '' || query.accessor === AccessorID;

/** Callers see their own; another's needs `acl:read` where its token lives. */
function isSeen({ AccessorID, home }: NotedDenial, { caller, allows }: Given): boolean {
  const own = caller.kind === 'token' ? ownAccessor({ caller }) : '';
  return (own !== '' && own === AccessorID) || allows(resourceAccess('acl', 'read', home));
}
