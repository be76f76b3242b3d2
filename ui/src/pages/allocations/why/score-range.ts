interface Scored {
  readonly NormScore: number | null;
  readonly Scores: Readonly<Record<string, number>>;
}

/** The range of the bars of several nodes: the greatest score, and whether there are scores below zero. */
export function rangeOf(nodes: readonly Scored[]): {
  readonly most: number;
  readonly isSigned: boolean;
} {
  const scores = nodes.flatMap(({ NormScore, Scores }) => [
    NormScore ?? 0,
    ...Object.values(Scores),
  ]);
  return {
    most: scores.reduce((most, score) => Math.max(most, Math.abs(score)), 1),
    isSigned: scores.some((score) => score < 0),
  };
}
