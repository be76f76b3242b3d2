import { AclTokenSchema, type PresentedAclToken } from '../model/acl-token/acl-token.ts';
import { Flag, Text, Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { nothing, underAccessControl } from './needs.ts';

const LinkRequestSchema = Type.Object({
  /** Only a browser on the machine of the server may use the link. */
  LoopbackOnly: Flag(),
});

const SignInLinkSchema = Type.Object({
  /** 128 random bits, for the fragment of `/ui/sign-in#link=SECRET`. */
  Secret: Text(),
  LoopbackOnly: Type.Boolean(),
  /** RFC 3339. */
  ExpirationTime: Text(),
});

/** The links of tokens; to use a link, its secret is enough. */
const anybody = underAccessControl(nothing);

export const signInLinkEndpoints = endpoints(
  { group: 'sign-in-links', noun: 'sign-in-link', family: 'registry' },
  {
    create: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/ui/link',
      summary:
        'Make a link that signs in to the web interface, once, with the rights of the caller',
      body: { schema: LinkRequestSchema, unknown: 'refuse', optional: true },
      answer: SignInLinkSchema,
      permission: anybody,
    },
    use: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/ui/sign-in',
      summary: 'Exchange a link for a token that expires',
      body: {
        example: { Secret: 'jvQ3vwnkUBFDXTkULTCVzQ' },
        schema: Type.Object({ Secret: Text() }),
        unknown: 'refuse',
      },
      answer: typed<PresentedAclToken>(AclTokenSchema),
      takesOldTokens: true,
      permission: anybody,
    },
    signOut: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/ui/sign-out',
      summary: 'Delete the token of a link, or of a login',
      answer: Type.Boolean(),
      permission: anybody,
    },
  },
);
