/** The line that tells where the agent listens, and the fault of its log. */
export const readiness = ({ address, logFault }: Readiness): string =>
  logFault === undefined
    ? `Roster is ready at ${address}\n`
    : `Roster answers at ${address}, but ${logFault}\n`;

interface Readiness {
  readonly address: string;
  readonly logFault: string | undefined;
}
