/** The words of a command as a shell splits them: by spaces, with quotes and backslashes, and without anything else. */
export function wordsOfCommand(text: string): readonly string[] {
  const words: string[] = [];
  const word = /(?:[^\s"'\\]|\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'[^']*')+|["'\\]/g;
  for (const [found] of text.matchAll(word)) words.push(unquoted(found));
  return words;
}

const unquoted = (word: string): string =>
  word.replace(
    /\\([\s\S])|"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'/g,
    (_, escaped?: string, double?: string, single?: string) =>
      escaped ?? double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? '',
  );
