/** The line that tells where the agent listens, and why it is of limited use. */
export const readiness = ({ address, fault }: Readiness): string =>
  fault === undefined
    ? `Roster is ready at ${address}\n`
    : `Roster answers at ${address}, but ${fault}\n`;

interface Readiness {
  readonly address: string;
  readonly fault: string | undefined;
}
