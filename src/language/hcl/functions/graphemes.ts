import type { Budget } from '../budget.ts';

/**
 * Characters as a person sees them: grapheme clusters. A letter with its accent is one cluster, and so is a
 * flag of several parts. ASCII texts, the most frequent texts, need no segmenter.
 */
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
// A line end of two characters is a single cluster.
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const plain = /^[\x00-\x0c\x0e-\x7f]*$/;

export function lengthOf(text: string, budget: Budget): number {
  budget.work(text.length >> 6);
  return plain.test(text) ? text.length : clustersOf(text, budget).length;
}

export function clustersOf(text: string, budget: Budget): readonly string[] {
  if (plain.test(text)) return text.split('');
  // Finding clusters takes far longer than reading the text.
  budget.work(10 + text.length);
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
