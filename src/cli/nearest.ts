/** The known word that is most similar to the given word, if it is similar enough for a typo. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  let best: { word: string; distance: number } | undefined;
  for (const word of known) {
    const distance = editDistance(given, word);
    if (distance <= Math.max(1, word.length / 3) && distance < (best?.distance ?? Infinity)) {
      best = { word, distance };
    }
  }
  return best?.word;
}

/** The number of insertions, deletions and substitutions between two words. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let column = 1; column <= to.length; column++) {
      const substituted = row[column - 1]! + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(row[column]! + 1, next[column - 1]! + 1, substituted));
    }
    row = next;
  }
  return row[to.length]!;
}
