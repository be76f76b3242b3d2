import { limits } from '../limits.ts';
import { below, type Path, type Report } from '../path.ts';
import { About, FullList, type Model, Nullable, Text, Type } from '../schema.ts';

const ClaimSchema = Type.Object(
  {
    Path: About('The claim, from the outermost name in.', FullList(Text())),
    Value: About('What it has to be, or to hold.', Text()),
  },
  { title: 'Claim' },
);

/** Which tokens a request has to come with. Source: facts/registry.md §5.9. */
const TokenRequirementsSchema = Type.Object(
  {
    Providers: About(
      'Who may have signed the token; one of them suffices.',
      FullList(
        Type.Object(
          {
            Name: About('Of the provider.', Text({ maxLength: limits.names.lengthMax })),
            VerifyClaims: About('What the token has to say.', FullList(ClaimSchema)),
          },
          { title: 'Provider' },
        ),
      ),
    ),
  },
  { title: 'JWT' },
);
type TokenRequirements = Model<typeof TokenRequirementsSchema>;

export const TokenRequirements = () =>
  About('Which tokens a request has to come with.', Nullable(TokenRequirementsSchema));

export function checkTokenRequirements(
  requirements: TokenRequirements | null | undefined,
  path: Path,
  report: Report,
): void {
  if (requirements == null) return;
  const { Providers } = requirements;
  if (Providers.length === 0) report(below(path, 'Providers'), 'must name at least one provider');
  const names = Providers.map(({ Name }) => Name);
  Providers.forEach(({ Name, VerifyClaims }, index) => {
    const at = below(path, 'Providers', index);
    if (Name === '') report(below(at, 'Name'), 'is required');
    else if (names.indexOf(Name) !== index) {
      report(below(at, 'Name'), `${JSON.stringify(Name)} is there already`);
    }
    VerifyClaims.forEach(({ Path: claim }, claimIndex) => {
      const place = below(at, 'VerifyClaims', claimIndex, 'Path');
      if (claim.length === 0) report(place, 'must name a claim');
      else if (claim.includes('')) report(place, 'must not hold an empty name');
    });
  });
}
