import { limits } from '../limits.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import { About, FullList, Nullable, Text, Type } from '../schema.ts';

const ClaimSchema = Type.Object(
  {
    Path: About('Path of the claim, beginning with the outermost name.', FullList(Text())),
    Value: About('The required value; a list has to contain it.', Text()),
  },
  { title: 'Claim' },
);

/** The tokens that a request needs. Source: docs/behaviour/gateways.md#token-requirements. */
const TokenRequirementsSchema = Type.Object(
  {
    Providers: About(
      'The accepted issuers of the token.',
      FullList(
        Type.Object(
          {
            Name: About('Name of the provider.', Text({ maxLength: limits.names.lengthMax })),
            VerifyClaims: About('Required claims of the token.', FullList(ClaimSchema)),
          },
          { title: 'Provider' },
        ),
      ),
    ),
  },
  { title: 'JWT' },
);

export const TokenRequirements = () =>
  About('The tokens that a request needs.', Nullable(TokenRequirementsSchema), {
    rules: tokenRules,
  });

/** The rule in the reference for a field that asks for tokens. */
export const tokenRules =
  'must be left out: it names entries of the kind `jwt-provider`, and Roster has none';

/**
 * A provider of tokens would be an entry of the kind `jwt-provider`, which does not exist. So every field
 * that names a provider is at fault; the field is known so that the refusal can give the reason.
 */
export function checkTokenRequirements(
  requirements: { readonly Providers: readonly { readonly Name: string }[] | null } | null,
  path: Path,
  report: Report,
): void {
  if (requirements === null) return;
  const place = below(path, 'Providers');
  const Providers = requirements.Providers ?? [];
  if (Providers.length === 0) report(place, `must name a jwt-provider, and ${noneExists}`);
  Providers.forEach(({ Name }, index) => {
    const at = below(place, index, 'Name');
    if (Name === '') report(at, `is required, and ${noneExists}`);
    else report(at, `names the jwt-provider ${quote(Name)}, and ${noneExists}`);
  });
}

const noneExists = 'no such provider exists: there are no entries of that kind here';
